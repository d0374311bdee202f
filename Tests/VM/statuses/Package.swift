// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that users of the library do not get it. The program runs in the emulated machine.
let package = Package(
    name: "vm-statuses",
    dependencies: [.package(name: "libreachability", path: "../../..")],
    targets: [
        .executableTarget(
            name: "vm-statuses",
            dependencies: [
                .product(name: "AFNetworkReachability", package: "libreachability"),
                .product(name: "NWReachability", package: "libreachability"),
                .product(name: "NetworkReachability", package: "libreachability"),
            ],
            path: "."
        )
    ],
    swiftLanguageModes: [.v6]
)
