// Code as it is written for Apple's SystemConfiguration: names that are not calls, and the submodule.

import Foundation
import SystemConfiguration.SCNetworkReachability

extension Notification.Name {
    static let targetChanged = Notification.Name("targetChanged")
}

enum Names {
    /// The default path, by the initializer that has all fields.
    static func zeroByInitializer() -> SCNetworkReachability? {
        var zero = sockaddr_in(
            sin_len: UInt8(MemoryLayout<sockaddr_in>.size), sin_family: sa_family_t(AF_INET), sin_port: 0,
            sin_addr: in_addr(s_addr: 0), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        return withUnsafePointer(to: &zero) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: MemoryLayout<sockaddr>.size) {
                SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, $0)
            }
        }
    }

    static func localWiFi() -> SCNetworkReachability? {
        var address = sockaddr_in()
        address.sin_len = UInt8(MemoryLayout.size(ofValue: address))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(IN_LINKLOCALNETNUM).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SCNetworkReachabilityCreateWithAddress(nil, $0) }
        }
    }

    static func isUsable(_ flags: SCNetworkReachabilityFlags) -> Bool {
        let isReachable = (flags.rawValue & UInt32(kSCNetworkFlagsReachable)) != 0
        let needsConnection = (flags.rawValue & UInt32(kSCNetworkFlagsConnectionRequired)) != 0
        return isReachable && !needsConnection
    }

    static func schedules(_ target: SCNetworkReachability) -> Bool {
        let loop = CFRunLoopGetMain()
        let isScheduled = SCNetworkReachabilityScheduleWithRunLoop(target, loop!, RunLoop.Mode.common as CFString)
        return SCNetworkReachabilityUnscheduleFromRunLoop(target, loop!, CFRunLoopMode.commonModes.rawValue)
            && isScheduled
    }

    static func errorCode() -> CFIndex {
        _ = SCNetworkReachabilityCreateWithName(nil, "")
        return CFErrorGetCode(SCCopyLastError())
    }

    static func isTarget(_ target: SCNetworkReachability) -> Bool {
        CFGetTypeID(target) == SCNetworkReachabilityGetTypeID()
    }

    /// A cache by target, and a notification about one of two targets.
    static func notifications(_ target: SCNetworkReachability, _ other: SCNetworkReachability) -> Int {
        var flags: [SCNetworkReachability: SCNetworkReachabilityFlags] = [:]
        for target in [target, other] { flags[target] = [] }
        final class Count: @unchecked Sendable { var value = 0 }
        let count = Count()
        let observer = NotificationCenter.default.addObserver(forName: .targetChanged, object: target, queue: nil) {
            _ in
            count.value += 1
        }
        for target in flags.keys { NotificationCenter.default.post(name: .targetChanged, object: target) }
        NotificationCenter.default.removeObserver(observer)
        return flags.count == 2 ? count.value : -1
    }
}
