// swift-tools-version: 6.1
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "libreachability",
    products: [
        .library(name: "CReachability", targets: ["CReachability"]),
        .library(name: "NetworkReachability", targets: ["NetworkReachability"]),
        .executable(name: "reachability", targets: ["reachability"]),
    ],
    traits: [
        .trait(
            name: "Tool",
            description: """
                Builds the command line tool. Off by default: users of the libraries then do not fetch what only the \
                tool needs.
                """
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // The same files as the Makefile's library; a check compares the two lists.
        .target(
            name: "CReachability",
            dependencies: [.target(name: "CLibmnl", condition: .when(platforms: [.linux]))],
            path: ".",
            exclude: ["CSources/libreachability.map"],
            sources: ["CSources"],
            publicHeadersPath: "include",
            cSettings: [.define("_GNU_SOURCE")]
        ),
        .systemLibrary(name: "CLibmnl", pkgConfig: "libmnl", providers: [.apt(["libmnl-dev"])]),
        .target(
            name: "NetworkReachability",
            dependencies: [.target(name: "CReachability", condition: .when(platforms: [.linux]))],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "reachability",
            dependencies: [
                "CReachability",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "benchmark-hops",
            dependencies: ["NetworkReachability"],
            path: "Benchmarks/hops",
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "CReachabilityTests", dependencies: ["CReachability"], swiftSettings: swiftSettings),
        .testTarget(
            name: "NetworkReachabilityTests",
            dependencies: ["NetworkReachability"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ReachabilityToolTests",
            dependencies: ["reachability", "CReachability"],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
