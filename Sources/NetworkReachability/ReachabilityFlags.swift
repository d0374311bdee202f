// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability
import ReachabilityInternals

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
        return String { SCNetworkReachabilityFlagsGetString(flags, $0, $1) }
    }
}

/// Why a target is not reachable. Later versions may have more reasons.
public struct ReachabilityReason: RawRepresentable, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a reason from the value in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

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

    /// nil: the target is reachable.
    init?(ofPath reason: SCNetworkReachabilityReason) {
        if reason == .none { return nil }
        self.init(reason)
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

/// The source of a path. Later versions may have more.
public struct ReachabilityEvidence: RawRepresentable, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a value from the one in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A route query to the kernel.
    public static let kernel = ReachabilityEvidence(rawValue: SCNetworkReachabilityEvidence.kernel.rawValue)
    /// A connected UDP socket, which sends nothing, in a sandbox without rtnetlink. The only flags are
    /// ``ReachabilityFlags/reachable`` and ``ReachabilityFlags/isLocalAddress``.
    public static let socket = ReachabilityEvidence(rawValue: SCNetworkReachabilityEvidence.socket.rawValue)
}

extension ReachabilityEvidence: CustomStringConvertible {
    /// The name in code: "kernel".
    public var description: String {
        switch self {
        case .kernel: "kernel"
        case .socket: "socket"
        default: "evidence \(rawValue)"
        }
    }
}

/// What else is known about the packets to a target. Later versions may have more bits.
public struct ReachabilityFlow: OptionSet, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a value from the one in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A new connection like this one, without a bound address, would leave over another interface than this flow, or
    /// than the one that has this flow's source address.
    public static let betterPath = ReachabilityFlow(rawValue: 1 << 0)
    /// Packets leave over an interface that does not have their source address, and a new connection over it would get
    /// another one. The network may drop the packets: an established connection then hangs.
    public static let sourceForeign = ReachabilityFlow(rawValue: 1 << 1)
    /// A policy rule selects by what the monitor does not say: protocol, ports, traffic class, or another user. For a
    /// program's socket, the kernel may decide otherwise. A monitor of a host, a port and a transport says more.
    public static let incomplete = ReachabilityFlow(rawValue: 1 << 2)
}

extension ReachabilityFlow: CustomStringConvertible {
    /// The names in code, joined by commas: "betterPath,sourceForeign". Empty: no bit is set.
    public var description: String {
        names.joined(separator: ",")
    }

    package var names: [String] {
        let known: [(ReachabilityFlow, String)] = [
            (.betterPath, "betterPath"), (.sourceForeign, "sourceForeign"), (.incomplete, "incomplete"),
        ]
        let unknown = subtracting(known.reduce(into: []) { $0.formUnion($1.0) })
        let words = known.compactMap { contains($0) ? $1 : nil }
        return unknown.isEmpty ? words : words + ["0x" + String(unknown.rawValue, radix: 16)]
    }
}

/// Whether the next hop of packets responds, as far as the kernel knows: the gateway, or without one the target itself.
/// No packet is sent to find out. If it does not respond, a TCP connection fails after some seconds, and packets of UDP
/// are lost. Flags and reason do not depend on it.
public struct ReachabilityNextHop: RawRepresentable, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a value from the one in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The kernel has not tried, waits for a reply, or has forgotten it; or there is no next hop.
    public static let unknown = ReachabilityNextHop(rawValue: 0)
    /// It responds, or needs not be asked.
    public static let confirmed = ReachabilityNextHop(rawValue: 1)
    /// It has responded some time ago.
    public static let unconfirmed = ReachabilityNextHop(rawValue: 2)
    /// It has not responded.
    public static let failed = ReachabilityNextHop(rawValue: 3)
}

extension ReachabilityNextHop: CustomStringConvertible {
    /// The name in code: "failed".
    public var description: String {
        let names = ["unknown", "confirmed", "unconfirmed", "failed"]
        return rawValue < names.count ? names[Int(rawValue)] : "nextHop \(rawValue)"
    }
}
#endif
