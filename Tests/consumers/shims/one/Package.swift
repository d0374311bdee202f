// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "one",
    products: [.library(name: "One", targets: ["One"])],
    dependencies: [.package(path: "../libreachability")],
    targets: [
        .target(
            name: "One",
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
