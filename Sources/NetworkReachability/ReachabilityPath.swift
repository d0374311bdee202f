// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability

/// The way that packets to a target take at one moment, or why they cannot leave.
public struct ReachabilityPath: Sendable, Hashable {
    public var flags: ReachabilityFlags
    /// ``ReachabilityReason/none`` for a target that is reachable.
    public var reason: ReachabilityReason
    /// What packets leave over; where the target is not reachable, what they would leave over if there is a route.
    public var interface: Interface?
    /// nil: on a directly attached network, or none is known.
    public var gateway: Address?
    /// The address that packets will carry.
    public var source: Address?
    /// The address that was asked for: for a host, that one of its addresses which the flags are about. nil for the
    /// default path.
    public var destination: Address?

    /// For scripts: a monitor makes its own.
    public init(
        flags: ReachabilityFlags, reason: ReachabilityReason = .none, interface: Interface? = nil,
        gateway: Address? = nil, source: Address? = nil, destination: Address? = nil
    ) {
        self.flags = flags
        self.reason = reason
        self.interface = interface
        self.gateway = gateway
        self.source = source
        self.destination = destination
    }

    /// Reachable, and nothing more is told.
    public static let reachable = ReachabilityPath(flags: .reachable)

    /// Not reachable, for a reason.
    public static func unreachable(_ reason: ReachabilityReason = .noRoute) -> ReachabilityPath {
        ReachabilityPath(flags: [], reason: reason)
    }

    /// A packet can leave for the target now, or brings up the connection that it needs. It does not mean that the
    /// target answers. A host whose name is not resolved yet is not reachable.
    public var isReachable: Bool {
        guard flags.contains(.reachable), reason != .namePending else { return false }
        let comesUp = !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
        return !flags.contains(.connectionRequired) || comesUp && !flags.contains(.interventionRequired)
    }
}

extension ReachabilityPath: CustomStringConvertible {
    /// Flags, way and reason, in the words of ip-route(8): "Reachable dev eth0 via 10.0.0.1 src 10.0.0.2".
    public var description: String {
        var words = ["\(flags)"]
        if let interface { words.append("dev \(interface.name)") }
        if let gateway { words.append("via \(gateway)") }
        if let source { words.append("src \(source)") }
        if reason != .none { words.append("(\(reason))") }
        return words.joined(separator: " ")
    }
}

extension ReachabilityPath {
    package init(_ path: SCNetworkReachabilityPath) {
        self.init(
            flags: ReachabilityFlags(rawValue: path.flags.rawValue),
            reason: ReachabilityReason(rawValue: path.reason.rawValue), interface: Interface(path),
            gateway: Address(path.gateway), source: Address(path.source), destination: Address(path.destination))
    }
}
#endif
