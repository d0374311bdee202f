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
    /// Whether packets can leave.
    public enum Status: Sendable {
        /// A packet can leave.
        case satisfied
        /// No packet can leave.
        case unsatisfied
        /// A packet can leave after a connection is made, which traffic starts. Never on Linux; a script can set it.
        case requiresConnection
    }

    /// Why a path is not satisfied.
    public enum UnsatisfiedReason: Sendable {
        /// The only reason on Linux.
        case notAvailable
        /// Never reported on Linux, but by a script.
        case cellularDenied
        /// Never reported on Linux, but by a script.
        case wifiDenied
        /// Never reported on Linux, but by a script.
        case localNetworkDenied
        /// Never reported on Linux, but by a script.
        case vpnInactive
    }

    /// How good a link is.
    public enum LinkQuality: Sendable {
        /// The only quality on Linux.
        case unknown
        /// Never reported on Linux.
        case minimal
        /// Never reported on Linux.
        case moderate
        /// Never reported on Linux.
        case good
    }

    /// Whether packets can leave.
    public let status: Status
    /// First the interfaces that the kernel chooses for IPv4 and IPv6, then the others that have a default route of
    /// their own, by metric.
    public let availableInterfaces: [NWInterface]
    /// Whether packets leave over a cellular interface. A hotspot cannot be recognised on Linux.
    public let isExpensive: Bool
    /// Whether packets can leave over IPv4, from an address of this machine.
    public let supportsIPv4: Bool
    /// Whether packets can leave over IPv6, from an address of this machine.
    public let supportsIPv6: Bool
    /// Whether the path is satisfied, and a packet can leave for a name server.
    public let supportsDNS: Bool
    /// The gateways of the default routes, IPv4's first, with port `any`.
    public var gateways: [NWEndpoint] {
        let (first, second) = (details.used.ipv4?.gatewayEndpoint, details.used.ipv6?.gatewayEndpoint)
        return [first, second == first ? nil : second].compactMap { $0 }
    }
    /// nil: a monitor's path has no ends.
    public var localEndpoint: NWEndpoint? { nil }
    /// nil: a monitor's path has no ends.
    public var remoteEndpoint: NWEndpoint? { nil }

    private let details: PathDetails

    /// Whether the user wants little traffic. Only a script's path has it: Linux has no source for it.
    public var isConstrained: Bool { details.types.contains(.constrained) }
    /// false: Linux has no source for it.
    public var isUltraConstrained: Bool { false }
    /// Why the path is not satisfied. Of the kernel's paths it is always `notAvailable`.
    public var unsatisfiedReason: UnsatisfiedReason { details.unsatisfiedReason }
    /// Always `unknown`: Linux has no source for it.
    public var linkQuality: LinkQuality { .unknown }

    /// Whether packets leave over an interface of this type, or over a tunnel that such an interface carries.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        details.types.contains(UsedTypes(type))
    }
}

extension NWPath {
    /// Whether all is equal that a path reports, the source addresses, and the list of name servers.
    public static func == (one: NWPath, other: NWPath) -> Bool {
        one.status == other.status && one.supportsIPv4 == other.supportsIPv4 && one.supportsIPv6 == other.supportsIPv6
            && one.supportsDNS == other.supportsDNS && one.isExpensive == other.isExpensive
            && one.details == other.details
            && one.availableInterfaces.elementsEqual(other.availableInterfaces) { $0.isSame($1) }
    }
}

extension NWPath {
    /// Before a monitor is started.
    static let unknown = NWPath(NetworkState(), .any)

    init(_ network: NetworkState, _ requirement: Requirement) {
        let choice = Choice(network, requirement)
        details = PathDetails(choice.used, network)
        status = choice.status
        availableInterfaces = choice.interfaces
        isExpensive = !details.types.isDisjoint(with: [.cellular, .expensive])
        supportsIPv4 = choice.used.ipv4 != nil
        supportsIPv6 = choice.used.ipv6 != nil
        supportsDNS = choice.status == .satisfied && !choice.isLoopback && network.isNameServerReachable
    }
}

/// What a path does not store itself, so that a copy of a path is small.
private final class PathDetails: Sendable, Equatable {
    /// Gateways, and (for `==` only) source addresses.
    let used: DefaultPaths
    let types: UsedTypes
    /// For `==` only.
    let nameServers: NameServers
    let unsatisfiedReason: NWPath.UnsatisfiedReason

    init(_ used: DefaultPaths, _ network: NetworkState) {
        self.used = used
        nameServers = network.nameServers
        unsatisfiedReason = network.unsatisfiedReason
        types = (used.ipv4?.types ?? []).union(used.ipv6?.types ?? [])
    }

    static func == (left: PathDetails, right: PathDetails) -> Bool {
        left === right
            || left.used == right.used && left.nameServers == right.nameServers
                && left.unsatisfiedReason == right.unsatisfiedReason
    }
}

extension DefaultPath {
    fileprivate var gatewayEndpoint: NWEndpoint? {
        guard let gateway else { return nil }
        let host: NWEndpoint.Host =
            gateway.isIPv6 ? .ipv6(IPv6Address(gateway, gatewayInterface)) : .ipv4(IPv4Address(gateway, nil))
        return .hostPort(host: host, port: .any)
    }
}

extension NWPath: CustomDebugStringConvertible {
    /// The status and what holds, in Apple's words: "satisfied (Path is satisfied), interface: wlan0, ipv4, dns, uses
    /// wifi".
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
            (isConstrained, "constrained"),
            (usesInterfaceType(.wifi), "uses wifi"), (usesInterfaceType(.cellular), "uses cell"),
            (usesInterfaceType(.wiredEthernet), "uses wired"), (usesInterfaceType(.loopback), "uses loopback"),
            (usesInterfaceType(.other), "uses other"),
        ]
        return availableInterfaces.prefix(1).map { "interface: \($0.name)" } + words.filter(\.0).map(\.1)
    }
}
#endif
