// swift-tools-version: 6.2
import PackageDescription

// One program for each product, which depends on that product only. Tests/consumers/swift.sh copies the library beside
// this package, or changes the dependency to a git repository.

let products = [
    "CReachability", "SCReachability", "NetworkReachability", "AFNetworkReachability", "AlamofireReachability",
    "ClassicReachability", "NWReachability",
]

let package = Package(
    name: "consumer",
    dependencies: [.package(path: "../libreachability")],
    targets: products.map { product in
        .executableTarget(
            name: "Uses\(product)",
            dependencies: [
                .product(name: product, package: "libreachability", condition: .when(platforms: [.linux]))
            ],
            path: "Sources/\(product)",
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    }
)
