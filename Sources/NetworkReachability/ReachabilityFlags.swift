// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

/// What is known about the route to a target. The bits are Apple's. No flag: no packet can leave for the target.
///
/// ``connectionOnDemand`` and ``interventionRequired`` are never set today: Linux has no information about them.
public struct ReachabilityFlags: OptionSet, Sendable, Hashable {
    /// The bits, with Apple's values.
    public let rawValue: UInt32

    /// Makes flags from bits with Apple's values.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Over a point-to-point link: ppp, a tunnel, a cellular modem.
    public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
    /// A packet can leave for the target now. That does not mean that the target responds.
    public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
    /// A connection must be made first.
    public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
    /// Traffic to the target makes the connection.
    public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
    /// A person must make the connection.
    public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
    /// A programming interface makes the connection.
    public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
    /// The target is an address of this machine.
    public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
    /// The target is on a directly attached network, without a gateway.
    public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
    /// Over a cellular interface.
    public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)
    /// Apple's other name for ``connectionOnTraffic``.
    public static let connectionAutomatic = connectionOnTraffic
}

extension ReachabilityFlags: CustomStringConvertible {
    /// The words of `scutil -r`, joined by commas: "Reachable,Directly Reachable Address". No flag: "Not Reachable".
    public var description: String {
        let flags = SCNetworkReachabilityFlags(rawValue: rawValue)
        let length = SCNetworkReachabilityFlagsGetString(flags, nil, 0)
        return String(unsafeUninitializedCapacity: length + 1) { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                SCNetworkReachabilityFlagsGetString(flags, $0.baseAddress, $0.count)
            }
        }
    }
}
#endif
