// Code as it is written for Apple's modules, in a package that others depend on.

import Foundation
import Network
import SystemConfiguration

#if !canImport(Network) || !canImport(SystemConfiguration)
#error("the aliases are not known")
#endif

public enum Two {
    public static func status(of path: Network.NWPath) -> Network.NWPath.Status { path.status }

    /// Whether lo is up, by both modules.
    public static func isLoopbackUp() -> Bool {
        let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
        monitor.start(queue: DispatchQueue(label: "paths"))
        defer { monitor.cancel() }
        guard let target = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1") else { return false }
        var flags = SCNetworkReachabilityFlags()
        guard SCNetworkReachabilityGetFlags(target, &flags) else { return false }
        return status(of: monitor.currentPath) == .satisfied && flags.contains(.reachable)
    }
}
