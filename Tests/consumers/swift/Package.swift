// swift-tools-version: 6.1
import PackageDescription

// Tests/consumers/swift-programs copies the library beside this package. It also makes the folders of the four ported
// targets of each framework: copies of the sources in `apple` and `network`, unchanged or with another import line.
// SameNames gets C functions with the names that the library uses inside. The last two have their sources in
// Tests/consumers/watch and Tests/consumers/products.

let reachability = Target.Dependency.product(name: "SCReachability", package: "libreachability")
let alias = SwiftSetting.unsafeFlags(["-module-alias", "SystemConfiguration=SCReachability"])

let paths = Target.Dependency.product(name: "NWReachability", package: "libreachability")
let networkAlias = SwiftSetting.unsafeFlags(["-module-alias", "Network=NWReachability"])

let package = Package(
    name: "consumer",
    dependencies: [.package(path: "../libreachability")],
    targets: [
        .target(name: "SameNames"),
        .executableTarget(
            name: "everything",
            dependencies: [
                "SameNames",
                .product(name: "CReachability", package: "libreachability"),
                .product(name: "SCReachability", package: "libreachability"),
                .product(name: "NetworkReachability", package: "libreachability"),
                .product(name: "AFNetworkReachability", package: "libreachability"),
                .product(name: "AlamofireReachability", package: "libreachability"),
                .product(name: "ClassicReachability", package: "libreachability"),
                .product(name: "NWReachability", package: "libreachability"),
            ]
        ),
        .executableTarget(
            name: "managers5",
            dependencies: [
                .product(name: "AFNetworkReachability", package: "libreachability"),
                .product(name: "AlamofireReachability", package: "libreachability"),
                .product(name: "ClassicReachability", package: "libreachability"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .executableTarget(
            name: "alias5", dependencies: [reachability], swiftSettings: [.swiftLanguageMode(.v5), alias]),
        .executableTarget(
            name: "alias6", dependencies: [reachability], swiftSettings: [.swiftLanguageMode(.v6), alias]),
        .executableTarget(
            name: "nwalias5", dependencies: [paths], swiftSettings: [.swiftLanguageMode(.v5), networkAlias]),
        .executableTarget(
            name: "nwalias6", dependencies: [paths], swiftSettings: [.swiftLanguageMode(.v6), networkAlias]),
        .executableTarget(name: "nwimport5", dependencies: [paths], swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(name: "nwimport6", dependencies: [paths], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "import5", dependencies: [reachability], swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "import6", dependencies: [reachability], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "watch", dependencies: [.product(name: "NetworkReachability", package: "libreachability")]),
        .executableTarget(name: "UsesNWReachability", dependencies: [paths]),
    ]
        + ["waits", "sync", "model", "tested"].map { name in
            .executableTarget(
                name: name, dependencies: [.product(name: "NetworkReachability", package: "libreachability")])
        }
)
