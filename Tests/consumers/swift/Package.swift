// swift-tools-version: 6.1
import PackageDescription

// Tests/world/swift-consumer copies the library beside this package. It also makes the folders of the four ported
// targets: copies of the sources in `apple`, unchanged or with another import line.

let reachability = Target.Dependency.product(name: "SCReachability", package: "libreachability")
let alias = SwiftSetting.unsafeFlags(["-module-alias", "SystemConfiguration=SCReachability"])

let package = Package(
    name: "consumer",
    dependencies: [.package(path: "../libreachability")],
    targets: [
        .executableTarget(
            name: "everything",
            dependencies: [
                .product(name: "CReachability", package: "libreachability"),
                .product(name: "SCReachability", package: "libreachability"),
                .product(name: "NetworkReachability", package: "libreachability"),
                .product(name: "AFNetworkReachability", package: "libreachability"),
                .product(name: "AlamofireReachability", package: "libreachability"),
                .product(name: "ClassicReachability", package: "libreachability"),
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
            name: "import5", dependencies: [reachability], swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "import6", dependencies: [reachability], swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
