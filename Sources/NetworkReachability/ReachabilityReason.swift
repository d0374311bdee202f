// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

/// Why a target is not reachable. Later versions may have more reasons.
public struct ReachabilityReason: RawRepresentable, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a reason from the value in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The target is reachable.
    public static let none = ReachabilityReason(.none)
    /// There is no route.
    public static let noRoute = ReachabilityReason(.noRoute)
    /// An "unreachable" route applies.
    public static let routeUnreachable = ReachabilityReason(.routeUnreachable)
    /// A "prohibit" route or rule applies.
    public static let routeProhibited = ReachabilityReason(.routeProhibited)
    /// A "blackhole" route or rule applies.
    public static let routeBlackhole = ReachabilityReason(.routeBlackhole)
    /// The route's interface is administratively down.
    public static let interfaceDown = ReachabilityReason(.interfaceDown)
    /// The route's interface is up, but not running: the cable is unplugged, or the interface is dormant.
    public static let noCarrier = ReachabilityReason(.noCarrier)
    /// There is an IPv6 route, but no source address for it, or the monitor's local address is one of 127.0.0.0/8 and the
    /// destination is not on this machine.
    public static let noSourceAddress = ReachabilityReason(.noSourceAddress)
    /// The monitor's local address is not an address of this machine.
    public static let localAddressNotAssigned = ReachabilityReason(.localAddressNotAssigned)
    /// The host's name is not resolved yet. The flags are those of the default path.
    public static let namePending = ReachabilityReason(.namePending)
    /// The name does not exist.
    public static let nameNotFound = ReachabilityReason(.nameNotFound)
    /// A name server reported a failure.
    public static let nameServerFailure = ReachabilityReason(.nameServerFailure)
    /// No name server responded.
    public static let nameServerUnreachable = ReachabilityReason(.nameServerUnreachable)
    /// The interface of the monitor's options, or of an address's zone, does not exist.
    public static let interfaceMissing = ReachabilityReason(.interfaceMissing)
    /// The kernel could not be queried: no memory, no descriptors, or no permission. A monitor with iterators or
    /// observers tries again.
    public static let undetermined = ReachabilityReason(rawValue: .max)

    private init(_ reason: SCNetworkReachabilityReason) {
        rawValue = reason.rawValue
    }
}

extension ReachabilityReason: CustomStringConvertible {
    /// English text: "no route", "no carrier".
    public var description: String {
        if self == .undetermined { return "undetermined" }
        guard let reason = SCNetworkReachabilityReason(rawValue: rawValue) else { return "reason \(rawValue)" }
        return String(cString: SCNetworkReachabilityReasonString(reason))
    }
}
#endif
