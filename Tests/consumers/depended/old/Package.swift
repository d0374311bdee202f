// swift-tools-version: 5.9
import PackageDescription

// A package for Apple's platforms that compiles without SystemConfiguration, too. It does not know libreachability.
let package = Package(
    name: "old",
    products: [.library(name: "Old", targets: ["Old"])],
    targets: [.target(name: "Old")]
)
