// swift-tools-version: 6.1
import PackageDescription

// Depends on two packages that use the shims, and uses them itself.
let package = Package(
    name: "app",
    dependencies: [.package(path: "../libreachability"), .package(path: "../one"), .package(path: "../two")],
    targets: [
        .executableTarget(
            name: "app",
            dependencies: [
                .product(name: "One", package: "one"),
                .product(name: "Two", package: "two"),
                .product(
                    name: "NetworkShim", package: "libreachability",
                    moduleAliases: ["Network": "NWReachabilityAsNetwork"]),
            ])
    ]
)
