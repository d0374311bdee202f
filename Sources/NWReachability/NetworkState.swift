// SPDX-License-Identifier: MIT

#if os(Linux)
/// The usable default path of one family. Without references: each change of the network makes some.
struct DefaultPath: Sendable, Equatable {
    var requiresConnection = false
    /// The types of the interface, and of those that carry it.
    var types: UsedTypes = []
    var source: AddressBytes?
    var gateway: AddressBytes?
    /// Of a link-local gateway.
    var gatewayInterface: NWInterface?
}

/// The usable default paths of both families.
struct DefaultPaths: Sendable, Equatable {
    var ipv4: DefaultPath?
    var ipv6: DefaultPath?
}

/// An interface with a usable default path.
struct Way: Sendable, Equatable {
    var interface: NWInterface
    /// Out of this interface.
    var paths: DefaultPaths

    static func == (one: Way, other: Way) -> Bool {
        one.interface.isSame(other.interface) && one.paths == other.paths
    }
}

/// The name servers, in order. The resolver uses no more.
struct NameServers: Sendable, Equatable {
    var first: AddressBytes?
    var second: AddressBytes?
    var third: AddressBytes?
}

/// All default paths of a network namespace, and its name servers: what the paths of all monitors are made from.
package struct NetworkState: Sendable, Equatable {
    /// The ways that the kernel chooses.
    var chosen = DefaultPaths()
    var loopback = DefaultPaths()
    var ways: [Way] = []
    var nameServers = NameServers()
    package var isNameServerReachable = false
    /// Only a script has another one.
    var unsatisfiedReason = NWPath.UnsatisfiedReason.notAvailable

    static let loopbackInterface = NWInterface(type: .loopback, name: NameBytes("lo"), index: 1)
}

/// A set of types of interfaces, and what else a script says of them.
struct UsedTypes: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let cellular = UsedTypes(.cellular)
    static let expensive = UsedTypes(rawValue: 32)
    static let constrained = UsedTypes(rawValue: 64)
}

extension UsedTypes {
    init(_ type: NWInterface.InterfaceType) {
        rawValue =
            switch type {
            case .other: 1
            case .wifi: 2
            case .cellular: 4
            case .wiredEthernet: 8
            case .loopback: 16
            }
    }
}
#endif
