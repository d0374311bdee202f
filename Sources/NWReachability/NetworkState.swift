// SPDX-License-Identifier: MIT

#if os(Linux)
/// All default paths of a network namespace, and its name servers: what the paths of all monitors are made from.
struct NetworkState: Sendable, Equatable {
    /// The usable default path of one family.
    struct DefaultPath: Sendable, Equatable {
        var requiresConnection = false
        /// Of the interface, and of those that carry it.
        var types: UsedTypes = []
        var source: AddressBytes?
        var gateway: NWEndpoint.Host?
    }

    /// An interface with a usable default path.
    struct Way: Sendable, Equatable {
        var interface: NWInterface
        /// For IPv4 and IPv6, out of this interface.
        var paths: [DefaultPath?]
    }

    /// The ways that the kernel chooses for IPv4 and IPv6.
    var chosen: [DefaultPath?] = [nil, nil]
    var loopback: [DefaultPath?] = [nil, nil]
    var ways: [Way] = []
    var nameServers: [AddressBytes] = []
    var isNameServerReachable = false

    static let loopbackInterface = NWInterface(type: .loopback, name: "lo", index: 1)
}

/// A set of types of interfaces.
struct UsedTypes: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let cellular = UsedTypes(.cellular)
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
