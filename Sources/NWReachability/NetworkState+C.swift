// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension NetworkState {
    init(_ network: SCNetworkReachabilityNetwork, _ ways: UnsafeBufferPointer<SCNetworkReachabilityWay>) {
        chosen.ipv4 = DefaultPath(chosen: network.ipv4, ways, \.ipv4CarrierTypes)
        chosen.ipv6 = DefaultPath(chosen: network.ipv6, ways, \.ipv6CarrierTypes)
        loopback.ipv4 = DefaultPath(loopback: network.ipv4LoopbackFlags)
        loopback.ipv6 = DefaultPath(loopback: network.ipv6LoopbackFlags)
        self.ways = ways.map(Way.init)
        isNameServerReachable = network.nameServerIsReachable != 0
        let count = network.nameServerCount
        if count > 0 { nameServers.first = AddressBytes(network.nameServers.0) }
        if count > 1 { nameServers.second = AddressBytes(network.nameServers.1) }
        if count > 2, let third = AddressBytes(network.nameServers.2) { nameServers.others = [third] }
    }
}

extension NetworkState.Way {
    fileprivate init(_ way: SCNetworkReachabilityWay) {
        interface = NWInterface(way)
        paths = Families(
            ipv4: NetworkState.DefaultPath(way.ipv4, interface, way.ipv4CarrierTypes),
            ipv6: NetworkState.DefaultPath(way.ipv6, interface, way.ipv6CarrierTypes))
    }
}

extension NetworkState.DefaultPath {
    /// nil: packets cannot take the path.
    fileprivate init?(_ path: SCNetworkReachabilityDefaultPath, _ interface: NWInterface?, _ carriers: UInt32) {
        guard path.flags.contains(.reachable) else { return nil }
        requiresConnection = path.flags.contains(.connectionRequired)
        if let interface { types = UsedTypes(interface.type).union(UsedTypes(carriers: carriers)) }
        source = AddressBytes(path.source)
        gateway = AddressBytes(path.gateway).map { NetworkState.Gateway($0, interface) }
    }

    /// One of the ways has the path's interface, unless that is not known.
    fileprivate init?(
        chosen path: SCNetworkReachabilityDefaultPath, _ ways: UnsafeBufferPointer<SCNetworkReachabilityWay>,
        _ carriers: KeyPath<SCNetworkReachabilityWay, UInt32>
    ) {
        guard path.flags.contains(.reachable) else { return nil }
        guard let way = ways.first(where: { $0.interfaceIndex == path.interfaceIndex }) else {
            self.init(path, nil, 0)
            return
        }
        self.init(path, NWInterface(way), way[keyPath: carriers])
    }

    fileprivate init?(loopback flags: SCNetworkReachabilityFlags) {
        guard flags.contains(.reachable) else { return nil }
        types = UsedTypes(.loopback)
    }
}

extension NetworkState.Gateway {
    fileprivate init(_ address: AddressBytes, _ interface: NWInterface?) {
        self.address = address
        self.interface = address.isIPv6 && IPv6Address(address, nil).isLinkLocal ? interface : nil
    }
}

extension NWInterface {
    fileprivate init(_ way: SCNetworkReachabilityWay) {
        let name = withUnsafePointer(to: way.interfaceName) { name in
            name.withMemoryRebound(to: CChar.self, capacity: Int(IF_NAMESIZE)) { String(cString: $0) }
        }
        // The kernel gives ppp over a modem the flag, not the type.
        let isModem = way.ipv4.flags.contains(.isWWAN) || way.ipv6.flags.contains(.isWWAN)
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
        self = []
        guard carriers != 0 else { return }
        for bit in 0..<UInt32(UInt32.bitWidth) where carriers & 1 << bit != 0 {
            guard let type = SCNetworkReachabilityInterfaceType(rawValue: bit) else { continue }
            formUnion(UsedTypes(NWInterface.InterfaceType(type)))
        }
    }
}

extension AddressBytes {
    /// nil: no address.
    fileprivate init?(_ storage: sockaddr_storage) {
        let address = withUnsafeBytes(of: storage) { raw -> AddressBytes? in
            switch Int32(raw.load(as: sockaddr.self).sa_family) {
            case AF_INET: withUnsafeBytes(of: raw.load(as: sockaddr_in.self).sin_addr) { AddressBytes(loading: $0) }
            case AF_INET6: withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr) { AddressBytes(loading: $0) }
            default: nil
            }
        }
        guard let address else { return nil }
        self = address
    }
}
#endif
