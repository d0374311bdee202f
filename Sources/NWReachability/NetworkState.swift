// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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
struct Uplink: Sendable, Equatable {
    var interface: NWInterface
    /// Out of this interface.
    var paths: DefaultPaths

    static func == (one: Uplink, other: Uplink) -> Bool {
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
    /// The uplinks that the kernel chooses.
    var chosen = DefaultPaths()
    var loopback = DefaultPaths()
    var uplinks: [Uplink] = []
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

// The structures are large, so they are passed as `inout`, which copies nothing.

extension NetworkState {
    init(
        _ network: inout SCNetworkReachabilityNetwork,
        _ uplinks: UnsafeMutableBufferPointer<SCNetworkReachabilityUplink>
    ) {
        self.uplinks.reserveCapacity(uplinks.count)
        for index in uplinks.indices {
            let uplink = Uplink(&uplinks[index])
            self.uplinks.append(uplink)
            // One of the uplinks has the interface of a chosen path, unless that is not known.
            if network.ipv4.interfaceIndex == uplinks[index].interfaceIndex {
                chosen.ipv4 = DefaultPath(&network.ipv4, uplink.interface, uplinks[index].ipv4Underlay)
            }
            if network.ipv6.interfaceIndex == uplinks[index].interfaceIndex {
                chosen.ipv6 = DefaultPath(&network.ipv6, uplink.interface, uplinks[index].ipv6Underlay)
            }
        }
        if chosen.ipv4 == nil { chosen.ipv4 = DefaultPath(&network.ipv4, nil, []) }
        if chosen.ipv6 == nil { chosen.ipv6 = DefaultPath(&network.ipv6, nil, []) }
        loopback.ipv4 = DefaultPath(loopback: network.ipv4LoopbackFlags)
        loopback.ipv6 = DefaultPath(loopback: network.ipv6LoopbackFlags)
        isNameServerReachable = network.nameServerIsReachable != 0
        let count = network.nameServerCount
        if count > 0 { nameServers.first = AddressBytes(&network.nameServers.0) }
        if count > 1 { nameServers.second = AddressBytes(&network.nameServers.1) }
        if count > 2 { nameServers.third = AddressBytes(&network.nameServers.2) }
    }
}

extension Uplink {
    fileprivate init(_ uplink: inout SCNetworkReachabilityUplink) {
        let interface = NWInterface(&uplink)
        self.interface = interface
        paths = DefaultPaths(
            ipv4: DefaultPath(&uplink.ipv4, interface, uplink.ipv4Underlay),
            ipv6: DefaultPath(&uplink.ipv6, interface, uplink.ipv6Underlay))
    }
}

extension DefaultPath {
    /// nil: packets cannot take the path.
    fileprivate init?(_ path: inout SCNetworkReachabilityDefaultPath, _ interface: NWInterface?, _ underlay: UsedTypes)
    {
        guard path.flags.contains(.reachable) else { return nil }
        requiresConnection = path.flags.contains(.connectionRequired)
        if let interface { types = UsedTypes(interface.type).union(underlay) }
        source = AddressBytes(&path.source)
        gateway = AddressBytes(&path.gateway)
        if gateway?.isLinkLocalIPv6 == true { gatewayInterface = interface }
    }

    fileprivate init?(loopback flags: SCNetworkReachabilityFlags) {
        guard flags.contains(.reachable) else { return nil }
        types = UsedTypes(.loopback)
    }
}

extension NWInterface {
    fileprivate init(_ uplink: inout SCNetworkReachabilityUplink) {
        let name = withUnsafeBytes(of: &uplink.interfaceName) { NameBytes(loading: $0) }
        // The kernel gives ppp over a modem the flag, not the type.
        let isModem = uplink.ipv4.flags.contains(.isWWAN) || uplink.ipv6.flags.contains(.isWWAN)
        let type = InterfaceType(uplink.interfaceType, leadsOut: uplink.interfaceLeadsOut != 0)
        self.init(type: isModem ? .cellular : type, name: name, index: uplink.interfaceIndex)
    }
}

extension NWInterface.InterfaceType {
    /// Queries the kernel. A path lists only interfaces with a default route, and those have their type from there.
    init(ofInterface index: UInt32) {
        if index == NetworkState.loopbackInterface.index {
            self = .loopback
        } else if let uplink = KernelNetwork.uplink(ofInterface: index) {
            self = uplink.type
        } else {
            self.init(ofLink: index)
        }
    }

    /// The type of the interface that packets leave over for a link-local address.
    private init(ofLink index: UInt32) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_scope_id = index
        withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
            (bytes[0], bytes[1], bytes[15]) = (0xfe, 0x80, 1)
        }
        var path = SCNetworkReachabilityPath()
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        let target = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SCNetworkReachabilityCreateWithAddress(nil, $0)
            }
        }
        guard let target, SCNetworkReachabilityGetPath(target, &path), path.interfaceIndex == index else {
            self = .other
            return
        }
        self.init(path.interfaceType, leadsOut: false)
    }

    /// A virtual interface that leads out of a container or a virtual machine is wired: programs take `other` for no network.
    fileprivate init(_ type: SCNetworkReachabilityInterfaceType, leadsOut: Bool) {
        self =
            switch type {
            case .virtual where leadsOut: .wiredEthernet
            case .loopback: .loopback
            case .wiredEthernet: .wiredEthernet
            case .wiFi: .wifi
            case .cellular: .cellular
            default: .other
            }
    }
}

extension SCNetworkReachabilityUplink {
    fileprivate var ipv4Underlay: UsedTypes {
        UsedTypes(underlay: ipv4UnderlayTypes, leadsOut: ipv4UnderlayLeadsOut != 0)
    }
    fileprivate var ipv6Underlay: UsedTypes {
        UsedTypes(underlay: ipv6UnderlayTypes, leadsOut: ipv6UnderlayLeadsOut != 0)
    }
}

extension UsedTypes {
    /// From a bit for each type of the C library.
    fileprivate init(underlay: UInt32, leadsOut: Bool) {
        self = []
        guard underlay != 0 else { return }
        for bit in 0..<UInt32(UInt32.bitWidth) where underlay & 1 << bit != 0 {
            guard let type = SCNetworkReachabilityInterfaceType(rawValue: bit) else { continue }
            formUnion(UsedTypes(NWInterface.InterfaceType(type, leadsOut: leadsOut)))
        }
    }
}

extension AddressBytes {
    /// nil: no address.
    fileprivate init?(_ storage: inout sockaddr_storage) {
        let address = withUnsafeBytes(of: &storage) { raw -> AddressBytes? in
            switch Int32(raw.load(as: sa_family_t.self)) {
            case AF_INET: AddressBytes(loading: UnsafeRawBufferPointer(rebasing: raw[4..<8]))
            case AF_INET6: AddressBytes(loading: UnsafeRawBufferPointer(rebasing: raw[8..<24]))
            default: nil
            }
        }
        guard let address else { return nil }
        self = address
    }
}

/// Which interfaces count for a monitor.
enum Requirement: Hashable, Sendable {
    case any
    case required(NWInterface.InterfaceType)
    case prohibited(Set<NWInterface.InterfaceType>)

    init(prohibiting types: [NWInterface.InterfaceType]) {
        self = types.isEmpty ? .any : .prohibited(Set(types))
    }

    func allows(_ interface: NWInterface) -> Bool {
        switch self {
        case .any: true
        case .required(let type): interface.type == type
        case .prohibited(let types): !types.contains(interface.type)
        }
    }
}

/// What a monitor with a requirement sees of the network.
struct Choice {
    let interfaces: [NWInterface]
    /// The default paths that packets take.
    let used: DefaultPaths
    let isLoopback: Bool

    init(_ network: NetworkState, _ requirement: Requirement) {
        isLoopback = requirement == .required(.loopback)
        if isLoopback {
            used = network.loopback
            let isUp = used.ipv4 != nil || used.ipv6 != nil
            interfaces = isUp ? [NetworkState.loopbackInterface] : []
        } else if requirement == .any {
            // The kernel chooses.
            used = network.chosen
            interfaces = network.uplinks.map { $0.interface }
        } else {
            // A program binds its sockets to an interface.
            let uplinks = network.uplinks.filter { requirement.allows($0.interface) }
            interfaces = uplinks.map { $0.interface }
            used = uplinks.best
        }
    }

    /// The best of the families.
    var status: NWPath.Status {
        if used.ipv4 == nil && used.ipv6 == nil { return .unsatisfied }
        let requiresConnection =
            (used.ipv4?.requiresConnection ?? true) && (used.ipv6?.requiresConnection ?? true)
        return requiresConnection ? .requiresConnection : .satisfied
    }
}

extension [Uplink] {
    /// The first path of each family.
    var best: DefaultPaths {
        DefaultPaths(
            ipv4: first { $0.paths.ipv4 != nil }?.paths.ipv4,
            ipv6: first { $0.paths.ipv6 != nil }?.paths.ipv6)
    }
}
#endif
