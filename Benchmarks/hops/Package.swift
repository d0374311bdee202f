// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that users of the library do not get the benchmark. `make bench` builds it.
let package = Package(
    name: "benchmark-hops",
    dependencies: [.package(name: "libreachability", path: "../..")],
    targets: [
        .executableTarget(
            name: "benchmark-hops",
            dependencies: [
                .product(name: "AFNetworkReachability", package: "libreachability"),
                .product(name: "NWReachability", package: "libreachability"),
                .product(name: "NetworkReachability", package: "libreachability"),
            ],
            path: ".",
            packageAccess: false  // the Makefile sets the package name
        )
    ],
    swiftLanguageModes: [.v6]
)
