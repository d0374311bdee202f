// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation

/// Whether, and over what, a packet can leave. Never whether the host answers.
///
/// The raw values are those of tonymillion's Reachability. Apple's sample has 1 for Wi-Fi and 2 for cellular: code that
/// stored its numbers has to exchange the two.
public enum NetworkStatus: Int, Sendable {
    case notReachable = 0
    /// Over a cellular interface.
    case reachableViaWWAN = 1
    /// Over any other: Wi-Fi, Ethernet, a tunnel.
    case reachableViaWiFi = 2
}

/// The text of `NSNotification.Name.reachabilityChanged`, for sources that make the name of it.
public let kReachabilityChangedNotification = "kReachabilityChangedNotification"
/// The text of `NSNotification.Name.networkReachabilityChanged`.
public let kNetworkReachabilityChangedNotification = "kNetworkReachabilityChangedNotification"

extension NSNotification.Name {
    /// Posted on the notification queue, after the blocks; the object is the `Reachability`.
    public static let reachabilityChanged = NSNotification.Name(kReachabilityChangedNotification)
    /// The name that Apple's sample has for it, posted right after the other.
    public static let networkReachabilityChanged = NSNotification.Name(kNetworkReachabilityChangedNotification)
}
#endif
