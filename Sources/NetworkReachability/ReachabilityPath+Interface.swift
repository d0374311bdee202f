// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

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
    init?(_ path: SCNetworkReachabilityPath) {
        guard path.interfaceIndex != 0 else { return nil }
        name = withUnsafeBytes(of: path.interfaceName) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        index = path.interfaceIndex
        type = InterfaceType(rawValue: path.interfaceType.rawValue)
    }
}
#endif
