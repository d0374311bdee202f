// SPDX-License-Identifier: MIT

#if os(Linux)
import AFNetworkReachability
import Dispatch
import Glibc
import NetworkReachability

/// Prints a line for each status of the machine, as a program that was written for AFNetworking is told of it. With an
/// address: the type of the interface that leads there, and ends.
@main
struct Statuses {
    static func main() throws {
        if let address = CommandLine.arguments.dropFirst().first {
            let path = try ReachabilityMonitor(address: address).path
            return tell(path.interface.map { "\($0.type)" } ?? "none")
        }
        let manager = AFNetworkReachabilityManager()
        manager.setReachabilityStatusChange { tell(AFStringFromNetworkReachabilityStatus($0, language: "en")) }
        manager.startMonitoring()
        dispatchMain()
    }

    private static func tell(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
    }
}
#else
@main
struct Statuses {
    static func main() {}
}
#endif
