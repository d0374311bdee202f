#if canImport(SystemConfiguration)
import SystemConfiguration.SCNetworkReachability

extension SCNetworkReachabilityFlags {
    public var isUsable: Bool {
        contains(.reachable) && rawValue & SCNetworkConnectionFlags(kSCNetworkFlagsConnectionRequired) == 0
    }
}
#endif
