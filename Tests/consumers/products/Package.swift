// swift-tools-version: 6.2
import PackageDescription

// A program for each product, which has no other. Tests/consumers/swift.sh puts the library beside this package, or in
// a git repository.

let products = [
    "CReachability", "SCReachability", "NetworkReachability", "AFNetworkReachability", "AlamofireReachability",
    "ClassicReachability",
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
