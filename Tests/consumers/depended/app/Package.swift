// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "app",
    dependencies: [.package(path: "../libreachability"), .package(path: "../old")],
    targets: [
        .executableTarget(
            name: "app",
            dependencies: [
                .product(name: "Old", package: "old"),
                .product(name: "SCReachability", package: "libreachability"),
            ])
    ]
)
