// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
internal import ReachabilitySupport
internal import SCReachability

/// Whether, and over what, a packet can leave for a host. Never whether that host answers.
public enum AFNetworkReachabilityStatus: Int, Sendable, Hashable {
    /// Nothing has been delivered yet.
    case unknown = -1
    case notReachable = 0
    /// Over a cellular interface.
    case reachableViaWWAN = 1
    /// Over any other: Wi-Fi, Ethernet, a tunnel.
    case reachableViaWiFi = 2

    package init(_ flags: SCNetworkReachabilityFlags) {
        self =
            if !flags.isUsable {
                .notReachable
            } else if flags.contains(.isWWAN) {
                .reachableViaWWAN
            } else {
                .reachableViaWiFi
            }
    }

    var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }
}

extension NSNotification.Name {
    /// Posted on the delivery queue, after the block was called. The object is the manager, nil if it has ended
    /// meanwhile.
    public static let AFNetworkingReachabilityDidChange = NSNotification.Name(
        "com.alamofire.networking.reachability.change")
}

/// The key, in the notification's `userInfo`, of the status: an `NSNumber` of its raw value.
public let AFNetworkingReachabilityNotificationStatusItem = "AFNetworkingReachabilityNotificationStatusItem"
#endif
