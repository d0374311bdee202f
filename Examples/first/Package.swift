// swift-tools-version: 6.1
import PackageDescription

// To copy: a program that is called back. From another folder, change the path.
let package = Package(
    name: "first",
    dependencies: [.package(name: "libreachability", path: "../..")],
    targets: [
        .executableTarget(
            name: "first",
            dependencies: [.product(name: "NetworkReachability", package: "libreachability")])
    ]
)
