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
        .library(name: "NWReachability", targets: ["NWReachability"]),
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
            cSettings: [.define("_GNU_SOURCE"), .headerSearchPath("CSources")]
        ),
        .systemLibrary(name: "CLibmnl", pkgConfig: "libmnl", providers: [.apt(["libmnl-dev"])]),
        // What the modules share, without Foundation.
        .target(name: "ReachabilityInternals", dependencies: [cReachability]),
        .target(name: "NetworkReachability", dependencies: [cReachability, "ReachabilityInternals"]),
        // Also what the three managers below share.
        .target(
            name: "SCReachability",
            dependencies: [
                cReachability, "ReachabilityInternals",
                .target(name: "SCReachabilitySubmodule", condition: .when(platforms: [.linux])),
            ]
        ),
        // The submodule that Apple's module has.
        .systemLibrary(name: "SCReachabilitySubmodule"),
        .target(
            name: "AFNetworkReachability",
            dependencies: ["ReachabilityInternals", "SCReachability"],
            resources: [.process("Resources")]
        ),
        .target(name: "AlamofireReachability", dependencies: ["SCReachability"]),
        .target(name: "ClassicReachability", dependencies: ["SCReachability"]),
        // The arguments of the tool, also where /proc is not mounted.
        .target(name: "ReachabilityArguments"),
        // The TCP connections of the machine, for the tool.
        .target(name: "ReachabilityConnections"),
        .target(name: "NWReachability", dependencies: [cReachability, "ReachabilityInternals"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)

// What is built only on Linux: the tool, the tests, the shims. On Apple's systems, targets with these names would hide Apple's modules.
#if os(Linux)
package.products += [
    // For unchanged imports, with `moduleAliases`: the articles of NWReachability and SCReachability have the lines.
    .library(name: "NetworkShim", targets: ["Network"]),
    .library(name: "SystemConfigurationShim", targets: ["SystemConfiguration"]),
    .executable(name: "reachability", targets: ["reachability"]),
]
package.targets += [
    // They have the names of Apple's modules, so no source of this package may ask `canImport` for these.
    .target(name: "Network", dependencies: ["NWReachability"]),
    .target(name: "SystemConfiguration", dependencies: ["SCReachability"]),
    .executableTarget(
        name: "reachability",
        dependencies: [
            "CReachability", "NetworkReachability", "ReachabilityArguments", "ReachabilityConnections",
            "ReachabilityInternals",
            .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"])),
        ]
    ),
    // Processes and network namespaces of the tests' own, and what several modules' tests say alike.
    .target(name: "TestSupport", path: "Tests/TestSupport"),
    .testTarget(name: "CReachabilityTests", dependencies: ["CReachability", "TestSupport"]),
    .testTarget(name: "NetworkReachabilityTests", dependencies: ["NetworkReachability", "TestSupport"]),
    .testTarget(
        name: "ReachabilityToolTests",
        dependencies: ["reachability", "CReachability", "TestSupport"]
    ),
    .testTarget(name: "SCReachabilityTests", dependencies: ["SCReachability", "TestSupport"]),
    .testTarget(
        name: "ManagersTests",
        dependencies: [
            "ReachabilityInternals", "SCReachability", "NetworkReachability", "AFNetworkReachability",
            "AlamofireReachability", "ClassicReachability", "TestSupport",
        ]
    ),
    .testTarget(name: "AFNetworkReachabilityTests", dependencies: ["AFNetworkReachability", "TestSupport"]),
    .testTarget(name: "AlamofireReachabilityTests", dependencies: ["AlamofireReachability", "TestSupport"]),
    .testTarget(name: "NWReachabilityTests", dependencies: ["NWReachability", "TestSupport"]),
    .testTarget(name: "ClassicReachabilityTests", dependencies: ["ClassicReachability", "TestSupport"]),
]
#endif

for target in package.targets
where target.type != .system
    && !["CReachability", "ReachabilityArguments", "ReachabilityConnections"].contains(target.name)
{
    target.swiftSettings = swiftSettings
}
