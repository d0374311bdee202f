// swift-tools-version: 6.1
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Elsewhere the Swift modules are empty.
let cReachability = Target.Dependency.target(name: "CReachability", condition: .when(platforms: [.linux]))

let package = Package(
    name: "libreachability",
    defaultLocalization: "en",
    products: [
        .library(name: "CReachability", targets: ["CReachability"]),
        .library(name: "NetworkReachability", targets: ["NetworkReachability"]),
        .library(name: "SCReachability", targets: ["SCReachability"]),
        .library(name: "AFNetworkReachability", targets: ["AFNetworkReachability"]),
        .library(name: "AlamofireReachability", targets: ["AlamofireReachability"]),
        .library(name: "ClassicReachability", targets: ["ClassicReachability"]),
        .executable(name: "reachability", targets: ["reachability"]),
    ],
    traits: [
        .trait(
            name: "Tool",
            description: """
                Builds the command line tool. Off by default: users of the libraries then do not fetch what only the \
                tool needs.
                """
        )
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        // The same files as the Makefile's library; a check compares the two lists.
        .target(
            name: "CReachability",
            dependencies: [.target(name: "CLibmnl", condition: .when(platforms: [.linux]))],
            path: ".",
            // Localised files would count as this target's, wherever they are.
            exclude: ["CSources/libreachability.map", "Sources", "Tests"],
            sources: ["CSources"],
            publicHeadersPath: "include",
            cSettings: [.define("_GNU_SOURCE")]
        ),
        .systemLibrary(name: "CLibmnl", pkgConfig: "libmnl", providers: [.apt(["libmnl-dev"])]),
        .target(name: "NetworkReachability", dependencies: [cReachability], swiftSettings: swiftSettings),
        .target(name: "SCReachability", dependencies: [cReachability], swiftSettings: swiftSettings),
        // What the three managers share.
        .target(name: "ReachabilitySupport", dependencies: ["SCReachability"], swiftSettings: swiftSettings),
        .target(
            name: "AFNetworkReachability",
            dependencies: ["ReachabilitySupport", "SCReachability"],
            resources: [.process("Resources")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "AlamofireReachability",
            dependencies: ["ReachabilitySupport", "SCReachability"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "ClassicReachability",
            dependencies: ["ReachabilitySupport", "SCReachability"],
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
            dependencies: ["AFNetworkReachability", "NetworkReachability", "ReachabilitySupport"],
            path: "Benchmarks/hops",
            swiftSettings: swiftSettings
        ),
        // Runs in the emulated machine.
        .executableTarget(
            name: "vm-statuses",
            dependencies: ["AFNetworkReachability"],
            path: "Tests/VM/statuses",
            swiftSettings: swiftSettings
        ),
        // Processes and network namespaces of the tests' own, and what several modules' tests say alike.
        .target(
            name: "TestSupport",
            dependencies: ["NetworkReachability"],
            path: "Tests/TestSupport",
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "CReachabilityTests", dependencies: ["CReachability"], swiftSettings: swiftSettings),
        .testTarget(
            name: "NetworkReachabilityTests",
            dependencies: ["NetworkReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ReachabilityToolTests",
            dependencies: ["reachability", "CReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SCReachabilityTests",
            dependencies: ["SCReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ReachabilitySupportTests",
            dependencies: ["ReachabilitySupport", "SCReachability", "NetworkReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "AFNetworkReachabilityTests",
            dependencies: ["AFNetworkReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "AlamofireReachabilityTests",
            dependencies: ["AlamofireReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ClassicReachabilityTests",
            dependencies: ["ClassicReachability", "TestSupport"],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
