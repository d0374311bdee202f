#if os(Linux)
import AFNetworkReachability
import Dispatch
import Glibc

/// Prints a line for each status of the machine, as a program that was written for AFNetworking is told of it.
@main
struct Statuses {
    static func main() {
        let manager = AFNetworkReachabilityManager()
        manager.setReachabilityStatusChange { status in
            let line = Array("\(AFStringFromNetworkReachabilityStatus(status, language: "en"))\n".utf8)
            _ = write(STDOUT_FILENO, line, line.count)
        }
        manager.startMonitoring()
        dispatchMain()
    }
}
#else
@main
struct Statuses {
    static func main() {}
}
#endif
