// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability

/// The path of packets to a target at one moment, or the reason why they cannot leave.
public struct ReachabilityPath: Sendable, Hashable {
    /// The flags, as Apple defines them.
    public var flags: ReachabilityFlags
    /// ``ReachabilityReason/none`` if the target is reachable.
    public var reason: ReachabilityReason
    /// The interface of the route. A target that is not reachable has one, too, if there is a route.
    public var interface: Interface?
    /// nil: the target is on a directly attached network, or the gateway is not known.
    public var gateway: Address?
    /// The source address of packets to the target.
    public var source: Address?
    /// The address of the target. For a host, the address that the flags describe. nil for the default path.
    public var destination: Address?
    /// What else is known about the packets.
    public var flow: ReachabilityFlow
    /// Whether the next hop responds, when the path was read. A change of it alone is reported only with
    /// ``ReachabilityOptions/reportsNextHop``.
    public var nextHop: ReachabilityNextHop

    /// Makes a path for a ``ReachabilityScript``.
    public init(
        flags: ReachabilityFlags, reason: ReachabilityReason = .none, interface: Interface? = nil,
        gateway: Address? = nil, source: Address? = nil, destination: Address? = nil,
        flow: ReachabilityFlow = [], nextHop: ReachabilityNextHop = .unknown
    ) {
        self.flags = flags
        self.reason = reason
        self.interface = interface
        self.gateway = gateway
        self.source = source
        self.destination = destination
        self.flow = flow
        self.nextHop = nextHop
    }

    /// Reachable, without an interface or addresses.
    public static let reachable = ReachabilityPath(flags: .reachable)

    /// Not reachable, for the given reason.
    public static func unreachable(_ reason: ReachabilityReason = .noRoute) -> ReachabilityPath {
        ReachabilityPath(flags: [], reason: reason)
    }

    /// Whether a packet can leave for the target now, perhaps after it starts a connection. That does not mean that the
    /// target responds. A host whose name is not resolved yet is not reachable.
    public var isReachable: Bool {
        guard flags.contains(.reachable), reason != .namePending else { return false }
        let isAutomatic = !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
        return !flags.contains(.connectionRequired) || isAutomatic && !flags.contains(.interventionRequired)
    }

    /// Whether packets can leave, and not with a foreign source: see ``ReachabilityFlow/sourceForeign``. An established
    /// connection over a path that is not viable should be closed.
    public var isViable: Bool {
        isReachable && !flow.contains(.sourceForeign)
    }
}

extension ReachabilityPath: CustomStringConvertible {
    /// Flags, route and reason, in the words of ip-route(8): "Reachable dev eth0 via 10.0.0.1 src 10.0.0.2".
    public var description: String {
        var words = ["\(flags)"]
        if let interface { words.append("dev \(interface.name)") }
        if let gateway { words.append("via \(gateway)") }
        if let source { words.append("src \(source)") }
        if reason != .none { words.append("(\(reason))") }
        if nextHop == .failed { words.append("(next hop failed)") }
        return words.joined(separator: " ")
    }
}

extension ReachabilityPath {
    package init(_ path: SCNetworkReachabilityPath) {
        self.init(
            flags: ReachabilityFlags(rawValue: path.flags.rawValue),
            reason: ReachabilityReason(rawValue: path.reason.rawValue), interface: Interface(path),
            gateway: Address(path.gateway), source: Address(path.source), destination: Address(path.destination),
            flow: ReachabilityFlow(rawValue: path.flow.rawValue),
            nextHop: ReachabilityNextHop(rawValue: path.nextHop.rawValue))
    }
}
#endif
