// Code as it is written for Apple's SystemConfiguration: the ways to create a target with an address.

import Foundation
import SystemConfiguration

enum Address {
    /// The default path. The program makes the pointer.
    static func zeroByPointer() -> SCNetworkReachability? {
        var zero = sockaddr_in()
        zero.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        zero.sin_family = sa_family_t(AF_INET)
        return withUnsafePointer(to: &zero) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SCNetworkReachabilityCreateWithAddress(nil, $0)
            }
        }
    }

    /// The default path. The compiler makes the pointer.
    static func zeroByReference() -> SCNetworkReachability? {
        var zero = sockaddr()
        zero.sa_len = UInt8(MemoryLayout<sockaddr>.size)
        zero.sa_family = sa_family_t(AF_INET)
        return SCNetworkReachabilityCreateWithAddress(nil, &zero)
    }

    static func loopback6() -> SCNetworkReachability? {
        var address = sockaddr_in6()
        address.sin6_len = __uint8_t(MemoryLayout.size(ofValue: address))
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(
            to: &address,
            { pointer in
                return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    return SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, $0)
                }
            })
    }

    static func pair() -> SCNetworkReachability? {
        var address = sockaddr_in()
        address.sin_len = UInt8(MemoryLayout.size(ofValue: address))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SCNetworkReachabilityCreateWithAddressPair(kCFAllocatorDefault, $0, $0)
            }
        }
    }

    static func flags(of target: SCNetworkReachability) -> SCNetworkReachabilityFlags? {
        var flags = SCNetworkReachabilityFlags()
        guard SCNetworkReachabilityGetFlags(target, &flags) else { return nil }
        return flags
    }

    static func isUsable(_ flags: SCNetworkReachabilityFlags) -> Bool {
        let isReachable = flags.contains(.reachable)
        let needsConnection = flags.contains(.connectionRequired)
        let connectsByItself = flags.contains(.connectionOnDemand) || flags.contains(.connectionOnTraffic)
        let withoutUser = connectsByItself && !flags.contains(.interventionRequired)
        return isReachable && (!needsConnection || withoutUser)
    }
}
