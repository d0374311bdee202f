// SPDX-License-Identifier: MIT

#if os(Linux)
import AFNetworkReachability
import Dispatch
import Glibc
import NWReachability
import NetworkReachability

/// Prints a line for each status that an AFNetworkReachabilityManager delivers. With the argument "paths" it prints a line
/// for each path of an NWPathMonitor. With the argument "cellular", that monitor requires a cellular interface. With an
/// address as its argument it prints the type of the interface that leads there, and exits.
@main
struct StatusPrinter {
    static func main() throws {
        switch CommandLine.arguments.dropFirst().first {
        case "paths": printPaths(NWPathMonitor())
        case "cellular": printPaths(NWPathMonitor(requiredInterfaceType: .cellular))
        default: break
        }
        if let address = CommandLine.arguments.dropFirst().first {
            let path = try ReachabilityMonitor(address: address).path
            return print(path.interface.map { "\($0.type)" } ?? "none")
        }
        let manager = AFNetworkReachabilityManager()
        manager.setReachabilityStatusChange { print(AFStringFromNetworkReachabilityStatus($0, language: "en")) }
        manager.startMonitoring()
        dispatchMain()
    }

    private static func printPaths(_ monitor: NWPathMonitor) -> Never {
        monitor.pathUpdateHandler = { path in
            let names = path.availableInterfaces.map { "\($0) \($0.type)" }
            print("\(path); available: \(names.isEmpty ? "none" : names.joined(separator: ", "))")
        }
        monitor.start(queue: DispatchQueue(label: "paths"))
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
