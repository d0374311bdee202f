// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// The structures are large, so they are passed as `inout`, which copies nothing.

extension NetworkState {
    init(_ network: inout SCNetworkReachabilityNetwork, _ ways: UnsafeMutableBufferPointer<SCNetworkReachabilityWay>) {
        self.ways.reserveCapacity(ways.count)
        for index in ways.indices {
            let way = Way(&ways[index])
            self.ways.append(way)
            // One of the ways has the interface of a chosen path, unless that is not known.
            if network.ipv4.interfaceIndex == ways[index].interfaceIndex {
                chosen.ipv4 = DefaultPath(&network.ipv4, way.interface, ways[index].ipv4Carriers)
            }
            if network.ipv6.interfaceIndex == ways[index].interfaceIndex {
                chosen.ipv6 = DefaultPath(&network.ipv6, way.interface, ways[index].ipv6Carriers)
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

extension Way {
    fileprivate init(_ way: inout SCNetworkReachabilityWay) {
        let interface = NWInterface(&way)
        self.interface = interface
        paths = DefaultPaths(
            ipv4: DefaultPath(&way.ipv4, interface, way.ipv4Carriers),
            ipv6: DefaultPath(&way.ipv6, interface, way.ipv6Carriers))
    }
}

extension DefaultPath {
    /// nil: packets cannot take the path.
    fileprivate init?(_ path: inout SCNetworkReachabilityDefaultPath, _ interface: NWInterface?, _ carriers: UsedTypes)
    {
        guard path.flags.contains(.reachable) else { return nil }
        requiresConnection = path.flags.contains(.connectionRequired)
        if let interface { types = UsedTypes(interface.type).union(carriers) }
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
    fileprivate init(_ way: inout SCNetworkReachabilityWay) {
        let name = withUnsafeBytes(of: &way.interfaceName) { NameBytes(loading: $0) }
        // The kernel gives ppp over a modem the flag, not the type.
        let isModem = way.ipv4.flags.contains(.isWWAN) || way.ipv6.flags.contains(.isWWAN)
        let type = InterfaceType(way.interfaceType, isCable: way.interfaceIsCable != 0)
        self.init(type: isModem ? .cellular : type, name: name, index: way.interfaceIndex)
    }
}

extension NWInterface.InterfaceType {
    /// Queries the kernel. A path lists only interfaces with a default route, and those have their type from there.
    init(ofInterface index: UInt32) {
        if index == NetworkState.loopbackInterface.index {
            self = .loopback
        } else if let way = KernelNetwork.way(ofInterface: index) {
            self = way.type
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
        self.init(path.interfaceType, isCable: false)
    }

    /// A container's or virtual machine's cable is wired: programs take `other` for no network.
    fileprivate init(_ type: SCNetworkReachabilityInterfaceType, isCable: Bool) {
        self =
            switch type {
            case .virtual where isCable: .wiredEthernet
            case .loopback: .loopback
            case .wiredEthernet: .wiredEthernet
            case .wiFi: .wifi
            case .cellular: .cellular
            default: .other
            }
    }
}

extension SCNetworkReachabilityWay {
    fileprivate var ipv4Carriers: UsedTypes { UsedTypes(carriers: ipv4CarrierTypes, isCable: ipv4CarrierIsCable != 0) }
    fileprivate var ipv6Carriers: UsedTypes { UsedTypes(carriers: ipv6CarrierTypes, isCable: ipv6CarrierIsCable != 0) }
}

extension UsedTypes {
    /// From a bit for each type of the C library.
    fileprivate init(carriers: UInt32, isCable: Bool) {
        self = []
        guard carriers != 0 else { return }
        for bit in 0..<UInt32(UInt32.bitWidth) where carriers & 1 << bit != 0 {
            guard let type = SCNetworkReachabilityInterfaceType(rawValue: bit) else { continue }
            formUnion(UsedTypes(NWInterface.InterfaceType(type, isCable: isCable)))
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
#endif
