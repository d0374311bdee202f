// swift-tools-version: 6.1
import PackageDescription

// Servers that use NetworkReachability with SwiftNIO and ServiceLifecycle. A package of its own, so that users of the
// library do not fetch these.
let package = Package(
    name: "server-examples",
    dependencies: [
        .package(name: "libreachability", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "nio",
            dependencies: [
                .product(name: "NetworkReachability", package: "libreachability"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "connection",
            dependencies: [
                .product(name: "NetworkReachability", package: "libreachability"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "reconnect",
            dependencies: [
                .product(name: "NetworkReachability", package: "libreachability"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "lifecycle",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NetworkReachability", package: "libreachability"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
