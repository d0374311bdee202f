// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation

/// Whether a packet can leave for the target, and over which type of interface. That does not mean that the target
/// responds.
///
/// The raw values are those of tonymillion's Reachability. Apple's sample has 1 for Wi-Fi and 2 for cellular. Code that
/// stored the sample's values must swap the two.
public enum NetworkStatus: Int, Sendable {
    /// The target is not reachable.
    case notReachable = 0
    /// Over a cellular interface.
    case reachableViaWWAN = 1
    /// Over any other interface: Wi-Fi, Ethernet, a tunnel.
    case reachableViaWiFi = 2
}

/// The text of `NSNotification.Name.reachabilityChanged`, for sources that make the name from its text.
public let kReachabilityChangedNotification = "kReachabilityChangedNotification"
/// The text of `NSNotification.Name.networkReachabilityChanged`.
public let kNetworkReachabilityChangedNotification = "kNetworkReachabilityChangedNotification"

extension NSNotification.Name {
    /// Posted on the notification queue, after the blocks. The object is the `Reachability`.
    public static let reachabilityChanged = NSNotification.Name(kReachabilityChangedNotification)
    /// The name in Apple's sample. Posted right after `reachabilityChanged`.
    public static let networkReachabilityChanged = NSNotification.Name(kNetworkReachabilityChangedNotification)
}
#endif
