// A command that waits: waits HOST SECONDS ends with 0 as soon as a packet can leave for the host.

import Glibc
import NetworkReachability

let arguments = CommandLine.arguments
guard arguments.count == 3, let seconds = Int(arguments[2]) else {
    print("usage: waits HOST SECONDS")
    exit(64)
}
do {
    let monitor = try ReachabilityMonitor(host: arguments[1])
    print(try await monitor.waitUntilReachable(timeout: .seconds(seconds)))
} catch let error as ReachabilityError {
    print("\(arguments[1]): \(error)")
    exit(error.code == .timedOut ? 1 : 64)
}
