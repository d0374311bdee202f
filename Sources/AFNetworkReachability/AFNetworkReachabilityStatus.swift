// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
internal import ReachabilitySupport
internal import SCReachability

/// Whether a packet can leave for the target, and over which type of interface. That does not mean that the target
/// responds.
public enum AFNetworkReachabilityStatus: Int, Sendable, Hashable {
    /// No status has been delivered yet.
    case unknown = -1
    /// The target is not reachable.
    case notReachable = 0
    /// Over a cellular interface.
    case reachableViaWWAN = 1
    /// Over any other interface: Wi-Fi, Ethernet, a tunnel.
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
    /// Posted on the delivery queue, after the block and the observers. The object is the manager, or nil if the
    /// manager has ended since the delivery was queued.
    public static let AFNetworkingReachabilityDidChange = NSNotification.Name(
        "com.alamofire.networking.reachability.change")
}

/// The key of the status in the notification's `userInfo`. The value is an `NSNumber` with the raw value of the status.
public let AFNetworkingReachabilityNotificationStatusItem = "AFNetworkingReachabilityNotificationStatusItem"
#endif
