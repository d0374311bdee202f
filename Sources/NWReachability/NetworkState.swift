// SPDX-License-Identifier: MIT

#if os(Linux)
/// One value for each family.
package struct Families<Value> {
    var ipv4: Value
    var ipv6: Value
}

extension Families: Equatable where Value: Equatable {}
extension Families: Sendable where Value: Sendable {}

/// All default paths of a network namespace, and its name servers: what the paths of all monitors are made from.
package struct NetworkState: Sendable, Equatable {
    /// The usable default path of one family.
    struct DefaultPath: Sendable, Equatable {
        var requiresConnection = false
        /// Of the interface, and of those that carry it.
        var types: UsedTypes = []
        var source: AddressBytes?
        var gateway: Gateway?
    }

    struct Gateway: Sendable, Equatable {
        let address: AddressBytes
        /// Of a link-local address.
        let interface: NWInterface?
    }

    /// An interface with a usable default path.
    struct Way: Sendable, Equatable {
        var interface: NWInterface
        /// Out of this interface.
        var paths: Families<DefaultPath?>
    }

    /// The name servers in order.
    struct Servers: Sendable, Equatable {
        var first: AddressBytes?
        var second: AddressBytes?
        var others: [AddressBytes] = []
    }

    /// The ways that the kernel chooses.
    var chosen = Families<DefaultPath?>(ipv4: nil, ipv6: nil)
    var loopback = Families<DefaultPath?>(ipv4: nil, ipv6: nil)
    var ways: [Way] = []
    var nameServers = Servers()
    package var isNameServerReachable = false

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
