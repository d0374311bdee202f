// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "other",
    products: [.library(name: "Other", targets: ["Other"])],
    dependencies: [.package(path: "../libreachability")],
    targets: [
        .target(
            name: "Other",
            dependencies: [
                .product(
                    name: "NetworkShim", package: "libreachability",
                    moduleAliases: ["Network": "AnotherNetwork"]),
                .product(
                    name: "SystemConfigurationShim", package: "libreachability",
                    moduleAliases: ["SystemConfiguration": "AnotherSystemConfiguration"]),
            ])
    ]
)
