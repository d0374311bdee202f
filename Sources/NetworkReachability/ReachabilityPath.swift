// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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

extension ReachabilityPath {
    /// An IPv4 or IPv6 address.
    public struct Address: Sendable, Hashable {
        /// In network order. An IPv4 address is in the upper four bytes of the first half.
        private var halves: (UInt64, UInt64)
        /// Whether this is an IPv6 address.
        public let isIPv6: Bool
        /// The index of the interface of a link-local IPv6 address. 0: none.
        public let scopeID: UInt32

        /// The address in network order: 4 or 16 bytes.
        public var bytes: [UInt8] {
            let all = withUnsafeBytes(of: (halves.0.bigEndian, halves.1.bigEndian), Array.init)
            return isIPv6 ? all : Array(all.prefix(4))
        }

        /// Whether two addresses are the same, with their interface.
        public static func == (one: Address, other: Address) -> Bool {
            one.halves == other.halves && one.isIPv6 == other.isIPv6 && one.scopeID == other.scopeID
        }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(halves.0)
            hasher.combine(halves.1)
            hasher.combine(scopeID)
        }

        private init(_ bytes: UnsafeRawBufferPointer, scopeID: UInt32 = 0) {
            var halves: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &halves) { $0.copyMemory(from: bytes) }
            self.halves = (UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
            isIPv6 = bytes.count == 16
            self.scopeID = scopeID
        }
    }
}

extension ReachabilityPath.Address {
    /// Parses an address literal. IPv4 is parsed as in inet_aton(3). IPv6 may have a `%zone`: the number of an
    /// interface, or the name of an interface that exists now. nil: the text is not such a literal.
    public init?(_ literal: String) {
        guard let literal = AddressLiteral(literal) else { return nil }
        switch literal.address {
        case .ipv4(var address): self = withUnsafeBytes(of: &address) { Self($0) }
        case .ipv6(var address):
            let scopeID = literal.zone.map { literal.zoneNumber ?? if_nametoindex($0) }
            guard scopeID != 0 else { return nil }
            self = withUnsafeBytes(of: &address) { Self($0, scopeID: scopeID ?? 0) }
        }
    }

    package init?(_ storage: sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            self = withUnsafeBytes(of: storage) {
                withUnsafeBytes(of: $0.load(as: sockaddr_in.self).sin_addr) { Self($0) }
            }
        case AF_INET6:
            self = withUnsafeBytes(of: storage) {
                let address = $0.load(as: sockaddr_in6.self)
                return withUnsafeBytes(of: address.sin6_addr) { Self($0, scopeID: address.sin6_scope_id) }
            }
        default: return nil
        }
    }

    fileprivate func storage(port: UInt16) -> sockaddr_storage {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { storage in
            if isIPv6 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_scope_id = scopeID
                address.sin6_port = port.bigEndian
                withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
                storage.storeBytes(of: address, as: sockaddr_in6.self)
            } else {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
                storage.storeBytes(of: address, as: sockaddr_in.self)
            }
        }
        return storage
    }
}

func withSocketAddress<Result>(
    _ address: ReachabilityPath.Address?, port: UInt16 = 0, _ body: (UnsafePointer<sockaddr>?) -> Result
) -> Result {
    guard let address else { return body(nil) }
    return withUnsafePointer(to: address.storage(port: port)) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
}

extension ReachabilityPath.Address: CustomStringConvertible {
    /// "192.0.2.1", "2001:db8::1" or "fe80::1%eth0". If the thread's network namespace has no such interface, the zone
    /// is its number: "fe80::1%7".
    public var description: String {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            bytes.withUnsafeBytes { bytes in
                inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes.baseAddress, buffer.baseAddress, socklen_t(buffer.count))
                    .map { String(cString: $0) } ?? ""
            }
        }
        return scopeID == 0 ? text : "\(text)%\(interfaceName(of: scopeID) ?? "\(scopeID)")"
    }
}

private func interfaceName(of index: UInt32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
        if_indextoname(index, buffer.baseAddress).map { String(cString: $0) }
    }
}
#endif
