// SPDX-License-Identifier: MIT

#if os(Linux)
/// The way out of this machine at one moment, in the shape of Network.framework's.
///
/// A satisfied path means that a packet can leave. It does not mean that the Internet works: a captive portal is
/// satisfied.
///
/// Paths are equal if all that they report is equal, and also the source addresses and the list of name servers: a
/// program that binds its sockets to an address is called back when the address changes.
public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable {
        /// A packet can leave.
        case satisfied
        case unsatisfied
        /// A packet can leave after a connection is made, which traffic starts: ppp that is dialled on demand.
        case requiresConnection
    }

    public enum UnsatisfiedReason: Sendable {
        /// The only reason on Linux.
        case notAvailable
        case cellularDenied
        case wifiDenied
        case localNetworkDenied
        case vpnInactive
    }

    public enum LinkQuality: Sendable {
        /// The only quality on Linux.
        case unknown
        case minimal
        case moderate
        case good
    }

    public let status: Status
    /// First the interfaces that the kernel chooses for IPv4 and IPv6, then the others that have a default route of
    /// their own, by metric.
    public let availableInterfaces: [NWInterface]
    /// Whether packets leave over a cellular interface. A hotspot cannot be recognised on Linux.
    public let isExpensive: Bool
    public let supportsIPv4: Bool
    public let supportsIPv6: Bool
    /// Whether the path is satisfied, and a packet can leave for a name server.
    public let supportsDNS: Bool
    /// The gateways of the default routes, IPv4's first, with port `any`.
    public var gateways: [NWEndpoint] {
        let (first, second) = (used.ipv4?.gateway, used.ipv6?.gateway)
        return [first, second == first ? nil : second].compactMap { $0?.endpoint }
    }
    /// nil: a monitor's path has no ends.
    public let localEndpoint: NWEndpoint?
    /// nil: a monitor's path has no ends.
    public let remoteEndpoint: NWEndpoint?

    /// Gateways, types, and (for `==` only) source addresses.
    private let used: Families<NetworkState.DefaultPath?>
    /// For `==` only.
    private let nameServers: NetworkState.Servers

    /// false: Linux has no source for it.
    public var isConstrained: Bool { false }
    /// false: Linux has no source for it.
    public var isUltraConstrained: Bool { false }
    public var unsatisfiedReason: UnsatisfiedReason { .notAvailable }
    public var linkQuality: LinkQuality { .unknown }

    /// Whether packets leave over an interface of this type, or over a tunnel that such an interface carries.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        NWPath.types(used).contains(UsedTypes(type))
    }
}

extension NWPath {
    /// Before a monitor is started.
    static let unknown = NWPath(NetworkState(), .any)

    init(_ network: NetworkState, _ requirement: Requirement) {
        let choice = Choice(network, requirement)
        status = choice.status
        availableInterfaces = choice.interfaces
        used = choice.used
        isExpensive = NWPath.types(used).contains(.cellular)
        supportsIPv4 = used.ipv4 != nil
        supportsIPv6 = used.ipv6 != nil
        supportsDNS = choice.status == .satisfied && !choice.isLoopback && network.isNameServerReachable
        localEndpoint = nil
        remoteEndpoint = nil
        nameServers = network.nameServers
    }

    private static func types(_ used: Families<NetworkState.DefaultPath?>) -> UsedTypes {
        (used.ipv4?.types ?? []).union(used.ipv6?.types ?? [])
    }
}

extension NetworkState.Gateway {
    fileprivate var endpoint: NWEndpoint {
        let host: NWEndpoint.Host =
            address.isIPv6 ? .ipv6(IPv6Address(address, interface)) : .ipv4(IPv4Address(address, interface))
        return .hostPort(host: host, port: .any)
    }
}

extension NWPath: CustomDebugStringConvertible {
    public var debugDescription: String {
        switch status {
        case .satisfied: (["satisfied (Path is satisfied)"] + properties).joined(separator: ", ")
        case .requiresConnection: (["satisfiable (Connection required)"] + properties).joined(separator: ", ")
        case .unsatisfied: "unsatisfied (No network route)"
        }
    }

    private var properties: [String] {
        let words: [(Bool, String)] = [
            (supportsIPv4, "ipv4"), (supportsIPv6, "ipv6"), (supportsDNS, "dns"), (isExpensive, "expensive"),
            (usesInterfaceType(.wifi), "uses wifi"), (usesInterfaceType(.cellular), "uses cell"),
            (usesInterfaceType(.wiredEthernet), "uses wired"), (usesInterfaceType(.loopback), "uses loopback"),
            (usesInterfaceType(.other), "uses other"),
        ]
        return availableInterfaces.prefix(1).map { "interface: \($0.name)" } + words.filter(\.0).map(\.1)
    }
}
#endif
