// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "two",
    products: [.library(name: "Two", targets: ["Two"])],
    dependencies: [.package(path: "../libreachability")],
    targets: [
        .target(
            name: "Two",
            dependencies: [
                .product(
                    name: "NetworkShim", package: "libreachability",
                    moduleAliases: ["Network": "NWReachabilityAsNetwork"]),
                .product(
                    name: "SystemConfigurationShim", package: "libreachability",
                    moduleAliases: ["SystemConfiguration": "SCReachabilityAsSystemConfiguration"]),
            ])
    ]
)
