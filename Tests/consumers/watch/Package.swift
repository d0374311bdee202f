// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "watch",
    dependencies: [.package(path: "../libreachability")],
    targets: [
        .executableTarget(
            name: "watch", dependencies: [.product(name: "NetworkReachability", package: "libreachability")])
    ]
)
