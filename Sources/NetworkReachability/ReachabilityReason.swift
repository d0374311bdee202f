// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

/// Why a target is not reachable. Later versions may know more reasons than these.
public struct ReachabilityReason: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// It is reachable.
    public static let none = ReachabilityReason(.none)
    public static let noRoute = ReachabilityReason(.noRoute)
    /// By an "unreachable" route.
    public static let routeUnreachable = ReachabilityReason(.routeUnreachable)
    /// By a "prohibit" route or rule.
    public static let routeProhibited = ReachabilityReason(.routeProhibited)
    /// By a "blackhole" route or rule.
    public static let routeBlackhole = ReachabilityReason(.routeBlackhole)
    /// The route's interface is administratively down.
    public static let interfaceDown = ReachabilityReason(.interfaceDown)
    /// The route's interface is up, but not running: the cable is out, or it is dormant.
    public static let noCarrier = ReachabilityReason(.noCarrier)
    /// IPv6 without an address to send from.
    public static let noSourceAddress = ReachabilityReason(.noSourceAddress)
    /// The local address that was asked for is not this machine's.
    public static let localAddressNotAssigned = ReachabilityReason(.localAddressNotAssigned)
    /// The host's name is not resolved yet: the flags are those of the way to the name servers, or of the default path.
    public static let namePending = ReachabilityReason(.namePending)
    public static let nameNotFound = ReachabilityReason(.nameNotFound)
    public static let nameServerFailure = ReachabilityReason(.nameServerFailure)
    public static let nameServerUnreachable = ReachabilityReason(.nameServerUnreachable)
    /// The interface that was asked for does not exist, or not yet.
    public static let interfaceMissing = ReachabilityReason(.interfaceMissing)
    /// The kernel could not be asked: no memory, no descriptors, no right to. A monitor that is watched asks again.
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
