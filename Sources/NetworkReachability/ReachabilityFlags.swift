// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

/// What is known of the way to a target; Apple's bits. No flag: no packet can leave for it.
///
/// ``connectionOnDemand`` and ``interventionRequired`` have no source on Linux today: they are never set, and never
/// guessed.
public struct ReachabilityFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Over a point-to-point link: ppp, a tunnel, a cellular modem.
    public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
    /// A packet can leave for the target now. It does not mean that the target answers.
    public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
    /// A connection must be made first.
    public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
    /// ... which traffic brings about.
    public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
    /// ... which a person has to bring about.
    public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
    /// ... which some programming interface brings about.
    public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
    /// One of this machine's own addresses.
    public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
    /// On a directly attached network: without a gateway.
    public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
    /// Over a cellular interface.
    public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)
    /// Apple's other name for ``connectionOnTraffic``.
    public static let connectionAutomatic = connectionOnTraffic
}

extension ReachabilityFlags: CustomStringConvertible {
    /// The words of `scutil -r`, joined by commas: "Reachable,Directly Reachable Address"; "Not Reachable" for none.
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
