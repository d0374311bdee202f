// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension NetworkState {
    init(_ network: SCNetworkReachabilityNetwork, _ ways: [SCNetworkReachabilityWay]) {
        self.ways = ways.map(Way.init)
        chosen = [
            DefaultPath(network.ipv4, ways, carriers: \.ipv4CarrierTypes),
            DefaultPath(network.ipv6, ways, carriers: \.ipv6CarrierTypes),
        ]
        loopback = [network.ipv4LoopbackFlags, network.ipv6LoopbackFlags].map { flags in
            flags.contains(.reachable) ? DefaultPath(types: UsedTypes(.loopback)) : nil
        }
        isNameServerReachable = network.nameServerIsReachable != 0
        let servers = [network.nameServers.0, network.nameServers.1, network.nameServers.2]
        nameServers = servers.prefix(Int(network.nameServerCount)).compactMap(AddressBytes.init)
    }
}

extension NetworkState.Way {
    fileprivate init(_ way: SCNetworkReachabilityWay) {
        self.init(
            interface: NWInterface(way),
            paths: [
                NetworkState.DefaultPath(way.ipv4, [way], carriers: \.ipv4CarrierTypes),
                NetworkState.DefaultPath(way.ipv6, [way], carriers: \.ipv6CarrierTypes),
            ])
    }
}

extension NetworkState.DefaultPath {
    /// nil: packets cannot take the path. `ways` has the path's interface, unless that is not known.
    fileprivate init?(
        _ path: SCNetworkReachabilityDefaultPath, _ ways: [SCNetworkReachabilityWay],
        carriers: KeyPath<SCNetworkReachabilityWay, UInt32>
    ) {
        guard path.flags.contains(.reachable) else { return nil }
        let way = ways.first { $0.interfaceIndex == path.interfaceIndex }
        requiresConnection = path.flags.contains(.connectionRequired)
        types = way.map { UsedTypes(NWInterface($0).type).union(UsedTypes(carriers: $0[keyPath: carriers])) } ?? []
        source = AddressBytes(path.source)
        gateway = AddressBytes(path.gateway).map { NWEndpoint.Host($0, way) }
    }
}

extension NWInterface {
    fileprivate init(_ way: SCNetworkReachabilityWay) {
        let name = withUnsafeBytes(of: way.interfaceName) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        // The kernel gives ppp over a modem the flag, not the type.
        let isModem = way.ipv4.flags.union(way.ipv6.flags).contains(.isWWAN)
        self.init(
            type: isModem ? .cellular : InterfaceType(way.interfaceType), name: name, index: Int(way.interfaceIndex))
    }
}

extension NWInterface.InterfaceType {
    fileprivate init(_ type: SCNetworkReachabilityInterfaceType) {
        self =
            switch type {
            case .loopback: .loopback
            case .wiredEthernet: .wiredEthernet
            case .wiFi: .wifi
            case .cellular: .cellular
            default: .other
            }
    }
}

extension UsedTypes {
    /// From a bit for each type of the C library.
    fileprivate init(carriers: UInt32) {
        self = (0..<UInt32.bitWidth).reduce(into: []) { types, bit in
            guard carriers & 1 << bit != 0, let type = SCNetworkReachabilityInterfaceType(rawValue: UInt32(bit))
            else { return }
            types.formUnion(UsedTypes(NWInterface.InterfaceType(type)))
        }
    }
}

extension NWEndpoint.Host {
    /// A gateway. Only a link-local one has an interface.
    fileprivate init(_ address: AddressBytes, _ way: SCNetworkReachabilityWay?) {
        guard address.bytes.count == 16 else {
            self = .ipv4(IPv4Address(address))
            return
        }
        let isLinkLocal = IPv6Address(address).isLinkLocal
        self = .ipv6(IPv6Address(AddressBytes(address.bytes, isLinkLocal ? way.map { NWInterface($0) } : nil)))
    }
}

extension AddressBytes {
    /// Without an interface. nil: no address.
    fileprivate init?(_ storage: sockaddr_storage) {
        var storage = storage
        let bytes = withUnsafeBytes(of: &storage) { raw -> [UInt8]? in
            switch Int32(raw.load(as: sockaddr.self).sa_family) {
            case AF_INET: withUnsafeBytes(of: raw.load(as: sockaddr_in.self).sin_addr) { [UInt8]($0) }
            case AF_INET6: withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr) { [UInt8]($0) }
            default: nil
            }
        }
        guard let bytes else { return nil }
        self.init(bytes)
    }
}
#endif
