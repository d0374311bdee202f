// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability
import ReachabilityInternals

/// The path of packets to a target at one moment, or the reason why they cannot leave.
public struct ReachabilityPath: Sendable, Hashable {
    /// The flags, as Apple defines them.
    public var flags: ReachabilityFlags
    /// Why the target is not reachable. nil: it is reachable.
    public var reason: ReachabilityReason?
    /// The interface of the route. A target that is not reachable has one, too, if there is a route.
    public var interface: Interface?
    /// nil: the target is on a directly attached network, or the gateway is not known.
    public var gateway: IPAddress?
    /// The source address of packets to the target.
    public var source: IPAddress?
    /// The address of the target. For a host, the address that the flags describe. nil for the default path.
    public var destination: IPAddress?
    /// The bytes of the largest packet: the route's, or else the interface's. nil: not known. A change of it alone is not
    /// reported.
    public var mtu: Int?
    /// The routing table of the route, as rtnetlink(7) numbers it: 254 is "main". nil: not known. A change of it alone is
    /// not reported.
    public var table: UInt32?
    /// Where the library has this from.
    public var evidence: ReachabilityEvidence
    /// What else is known about the packets.
    public var flow: ReachabilityFlow
    /// Whether the next hop responds, when the path was read. A change of it alone is reported only with
    /// ``ReachabilityOptions/reportsNextHop``.
    public var nextHop: ReachabilityNextHop

    /// Makes a path for a ``ReachabilityScript``.
    public init(
        flags: ReachabilityFlags, reason: ReachabilityReason? = nil, interface: Interface? = nil,
        gateway: IPAddress? = nil, source: IPAddress? = nil, destination: IPAddress? = nil, mtu: Int? = nil,
        table: UInt32? = nil, evidence: ReachabilityEvidence = .kernel, flow: ReachabilityFlow = [],
        nextHop: ReachabilityNextHop = .unknown
    ) {
        self.flags = flags
        self.reason = reason
        self.interface = interface
        self.gateway = gateway
        self.source = source
        self.destination = destination
        self.mtu = mtu
        self.table = table
        self.evidence = evidence
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
        withUnsafePointer(to: SCNetworkReachabilityPath(self), SCNetworkReachabilityPathIsReachable)
    }

    /// Whether packets can leave, and not with a foreign source: see ``ReachabilityFlow/sourceForeign``. An established
    /// connection over a path that is not viable should be closed.
    public var isViable: Bool {
        withUnsafePointer(to: SCNetworkReachabilityPath(self), SCNetworkReachabilityPathIsViable)
    }
}

extension ReachabilityPath: CustomStringConvertible {
    /// One line for people and logs, in the words of ip-route(8): "reachable dev eth0 via 10.0.0.1 src 10.0.0.2", "not
    /// reachable: no carrier dev eth0", "pending". The wording may change.
    public var description: String {
        // C does not know this reason.
        if reason == .undetermined { return "not reachable: undetermined" }
        return withUnsafePointer(to: SCNetworkReachabilityPath(self)) { path in
            String { SCNetworkReachabilityPathGetString(path, $0, $1) }
        }
    }
}

extension ReachabilityPath {
    package init(_ path: SCNetworkReachabilityPath) {
        self.init(
            flags: ReachabilityFlags(rawValue: path.flags.rawValue),
            reason: ReachabilityReason(ofPath: path.reason),
            interface: Interface(path.interfaceIndex, path.interfaceName, path.interfaceType),
            gateway: IPAddress(path.gateway), source: IPAddress(path.source),
            destination: IPAddress(path.destination), mtu: path.mtu == 0 ? nil : Int(path.mtu),
            table: path.table == 0 ? nil : path.table, evidence: ReachabilityEvidence(rawValue: path.evidence),
            flow: ReachabilityFlow(rawValue: path.flow.rawValue),
            nextHop: ReachabilityNextHop(rawValue: path.nextHop.rawValue))
    }
}

extension SCNetworkReachabilityPath {
    /// A path for the rules in C.
    init(_ path: ReachabilityPath) {
        self.init()
        size = MemoryLayout<SCNetworkReachabilityPath>.size
        flags = SCNetworkReachabilityFlags(rawValue: path.flags.rawValue)
        reason = path.reason.flatMap { SCNetworkReachabilityReason(rawValue: $0.rawValue) } ?? .none
        if let interface = path.interface {
            interfaceIndex = interface.index
            interfaceType = SCNetworkReachabilityInterfaceType(rawValue: interface.type.rawValue) ?? .other
            withUnsafeMutableBytes(of: &interfaceName) { $0.copyBytes(from: interface.name.utf8.prefix($0.count - 1)) }
        }
        mtu = UInt32(clamping: path.mtu ?? 0)
        table = path.table ?? 0
        evidence = path.evidence.rawValue
        destination = path.destination?.storage() ?? destination
        source = path.source?.storage() ?? source
        gateway = path.gateway?.storage() ?? gateway
        flow = SCNetworkReachabilityFlow(rawValue: path.flow.rawValue)
        nextHop = SCNetworkReachabilityNextHop(rawValue: path.nextHop.rawValue) ?? .unknown
    }
}

extension ReachabilityPath {
    /// A network interface, as it was when the path was evaluated.
    public struct Interface: Sendable, Hashable {
        /// The name: "eth0".
        public var name: String
        /// The kernel's number of the interface. Another interface of the same name has another number.
        public var index: UInt32
        /// What the interface is.
        public var type: InterfaceType

        /// For scripts.
        public init(name: String, index: UInt32, type: InterfaceType) {
            self.name = name
            self.index = index
            self.type = type
        }
    }
}

extension ReachabilityPath.Interface {
    /// The type of an interface. It depends on the device, never on the interface's name. Later versions may have more
    /// types.
    ///
    /// A VLAN, macvlan, ipvlan, bond, team, bridge or VRF has the type of the interface that carries its packets: the
    /// interface below it, or the port that a bond uses. If there is no such interface, it has the type of the best
    /// port with a carrier, in the order ``wiredEthernet``, ``wiFi``, ``cellular``. If no real device carries the
    /// packets, the type is ``virtual``.
    public struct InterfaceType: RawRepresentable, Sendable, Hashable {
        /// The value in C.
        public let rawValue: UInt32

        /// Makes a type from the value in C.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// None of the others.
        public static let other = InterfaceType(.other)
        /// The interface lo.
        public static let loopback = InterfaceType(.loopback)
        /// Ethernet by wire.
        public static let wiredEthernet = InterfaceType(.wiredEthernet)
        /// Wi-Fi.
        public static let wiFi = InterfaceType(.wiFi)
        /// A cellular interface.
        public static let cellular = InterfaceType(.cellular)
        /// ppp.
        public static let pointToPoint = InterfaceType(.pointToPoint)
        /// tun, tap, gre, ipip, sit, ip6tnl, vti, xfrm, wireguard.
        public static let tunnel = InterfaceType(.tunnel)
        /// veth, dummy, vxlan, and a bridge of these.
        public static let virtual = InterfaceType(.virtual)

        private init(_ type: SCNetworkReachabilityInterfaceType) {
            rawValue = type.rawValue
        }
    }
}

extension ReachabilityPath.Interface.InterfaceType: CustomStringConvertible {
    /// The name in code: "wiredEthernet".
    public var description: String {
        switch self {
        case .loopback: "loopback"
        case .wiredEthernet: "wiredEthernet"
        case .wiFi: "wiFi"
        case .cellular: "cellular"
        case .pointToPoint: "pointToPoint"
        case .tunnel: "tunnel"
        case .virtual: "virtual"
        default: "other"
        }
    }
}

extension ReachabilityPath.Interface {
    /// `name`: 16 bytes. nil: no interface has the index 0.
    init?(_ index: UInt32, _ name: some Any, _ type: SCNetworkReachabilityInterfaceType) {
        guard index != 0 else { return nil }
        self.name = withUnsafeBytes(of: name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        self.index = index
        self.type = InterfaceType(rawValue: type.rawValue)
    }
}
#endif
