// SPDX-License-Identifier: MIT

#if os(Linux)
import AFNetworkReachability
import Dispatch
import Glibc
import NetworkReachability

/// Prints a line for each status that an AFNetworkReachabilityManager delivers. With an address as its argument it prints
/// the type of the interface that leads there, and exits.
@main
struct StatusPrinter {
    static func main() throws {
        if let address = CommandLine.arguments.dropFirst().first {
            let path = try ReachabilityMonitor(address: address).path
            return print(path.interface.map { "\($0.type)" } ?? "none")
        }
        let manager = AFNetworkReachabilityManager()
        manager.setReachabilityStatusChange { print(AFStringFromNetworkReachabilityStatus($0, language: "en")) }
        manager.startMonitoring()
        dispatchMain()
    }

    /// Unlike Swift's, leaves nothing in a buffer.
    private static func print(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
    }
}
#else
@main
struct StatusPrinter {
    static func main() {}
}
#endif
