// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

extension NWPathMonitor {
    /// Supplies the network of monitors, so that a program's tests need no network. Network.framework has nothing like it.
    ///
    /// ```swift
    /// let script = NWPathMonitor.Script(.wifi)
    /// let uploads = Uploads(monitor: NWPathMonitor(script: script))
    /// script.play(.offline)
    /// ```
    public final class Script: Sendable {
        private let source: ScriptNetworkSource

        /// Makes a script that begins with this network.
        public init(_ network: Network = .offline) {
            source = ScriptNetworkSource(network)
        }

        /// The network that was played last.
        public var network: Network { source.network }

        /// The number of monitors that are started or have iterators. A test can check that the program has ended all.
        public var watchedMonitors: Int { source.count }

        /// Sets the network. When this returns, `currentPath` of all monitors follows from it. Handlers and iterators
        /// get it later. A slow one gets only the newest path.
        public func play(_ network: Network) {
            source.play(network)
        }

        fileprivate var networkSource: any NetworkSource { source }
    }

    /// Makes a monitor that follows a script instead of the kernel.
    public convenience init(script: Script) {
        self.init(script.networkSource, .any)
    }

    /// Makes a monitor that follows a script. Only interfaces of this type count.
    public convenience init(script: Script, requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(script.networkSource, .required(requiredInterfaceType))
    }

    /// Makes a monitor that follows a script. Interfaces of these types do not count.
    public convenience init(script: Script, prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(script.networkSource, Requirement(prohibiting: prohibitedInterfaceTypes))
    }
}

extension NWPathMonitor.Script {
    /// An interface with a default route.
    public struct Interface: Sendable, Hashable {
        /// At most 15 bytes, as in the kernel. Others are dropped.
        public var name: String
        /// What the interface is.
        public var type: NWInterface.InterfaceType
        /// The kernel's number of the interface.
        public var index: Int
        /// The families in which packets can leave.
        public var supportsIPv4: Bool
        /// Whether packets can leave over IPv6.
        public var supportsIPv6: Bool
        /// The gateways of the default routes. The first of each family counts.
        public var gateways: [NWEndpoint.Host]
        /// The types of the interfaces over which the packets of a tunnel leave.
        public var underlay: [NWInterface.InterfaceType]
        /// Packets can leave after a connection is made.
        public var requiresConnection: Bool
        /// The path is expensive also if the interface is not cellular: a hotspot.
        public var isExpensive: Bool
        /// The user wants little traffic over the interface.
        public var isConstrained: Bool

        /// Makes an interface with a default route, for IPv4 unless the arguments say otherwise.
        public init(
            _ name: String, type: NWInterface.InterfaceType, index: Int, supportsIPv4: Bool = true,
            supportsIPv6: Bool = false, gateways: [NWEndpoint.Host] = [], underlay: [NWInterface.InterfaceType] = [],
            requiresConnection: Bool = false, isExpensive: Bool = false, isConstrained: Bool = false
        ) {
            self.name = name
            self.type = type
            self.index = index
            self.supportsIPv4 = supportsIPv4
            self.supportsIPv6 = supportsIPv6
            self.gateways = gateways
            self.underlay = underlay
            self.requiresConnection = requiresConnection
            self.isExpensive = isExpensive
            self.isConstrained = isConstrained
        }
    }

    /// Interfaces, in the order in which the kernel prefers them, and name servers.
    public struct Network: Sendable, Hashable {
        /// The interfaces with a default route, in the order in which the kernel prefers them.
        public var interfaces: [Interface]
        /// The name servers. The first three count.
        public var nameServers: [NWEndpoint.Host]
        /// Whether a packet can leave for one of the name servers.
        public var canReachNameServers: Bool
        /// Whether lo is up.
        public var isLoopbackUp: Bool
        /// Why a path that is not satisfied is not.
        public var unsatisfiedReason: NWPath.UnsatisfiedReason

        /// Makes a network.
        public init(
            interfaces: [Interface] = [], nameServers: [NWEndpoint.Host] = ["192.0.2.53"],
            canReachNameServers: Bool = true, isLoopbackUp: Bool = true,
            unsatisfiedReason: NWPath.UnsatisfiedReason = .notAvailable
        ) {
            self.interfaces = interfaces
            self.nameServers = nameServers
            self.canReachNameServers = canReachNameServers
            self.isLoopbackUp = isLoopbackUp
            self.unsatisfiedReason = unsatisfiedReason
        }

        /// Only lo.
        public static let offline = Network(canReachNameServers: false)
        /// wlan0, with IPv4 and IPv6.
        public static let wifi = Network(interfaces: [
            Interface("wlan0", type: .wifi, index: 2, supportsIPv6: true, gateways: ["192.0.2.1"])
        ])
        /// wwan0, with IPv4.
        public static let cellular = Network(interfaces: [
            Interface("wwan0", type: .cellular, index: 3, gateways: ["198.51.100.1"])
        ])
        /// eth0, with IPv4 and IPv6.
        public static let wiredEthernet = Network(interfaces: [
            Interface("eth0", type: .wiredEthernet, index: 4, supportsIPv6: true, gateways: ["203.0.113.1"])
        ])
    }
}

private final class ScriptNetworkSource: NetworkSource {
    private struct State {
        var network: NWPathMonitor.Script.Network
        var list = ReceiverList()
    }

    private let state: Mutex<State>

    init(_ network: NWPathMonitor.Script.Network) {
        state = Mutex(State(network: network))
        play(network)
    }

    var network: NWPathMonitor.Script.Network { state.withLock(\.network) }
    var count: Int { state.withLock(\.list.count) }

    func play(_ network: NWPathMonitor.Script.Network) {
        let sending = state.withLock { state in
            state.network = network
            return state.list.set(NetworkState(network), isWhole: true)
        }
        sending?.send()
    }

    func add(_ receiver: any NetworkReceiver) -> NetworkUpdate {
        state.withLock { state in
            state.list.add(receiver)
            return state.list.latest
        }
    }

    func remove(_ receiver: any NetworkReceiver) {
        let removed = state.withLock { $0.list.remove(receiver) }
        withExtendedLifetime(removed) {}
    }
}

extension NetworkState {
    fileprivate init(_ network: NWPathMonitor.Script.Network) {
        uplinks = network.interfaces.map(Uplink.init)
        chosen = uplinks.best
        let loopbackPath = network.isLoopbackUp ? DefaultPath(types: UsedTypes(.loopback)) : nil
        loopback = DefaultPaths(ipv4: loopbackPath, ipv6: loopbackPath)
        let servers = network.nameServers.compactMap(\.address)
        nameServers = NameServers(
            first: servers.first, second: servers.dropFirst().first, third: servers.dropFirst(2).first)
        isNameServerReachable = network.canReachNameServers && !servers.isEmpty
        unsatisfiedReason = network.unsatisfiedReason
    }
}

extension Uplink {
    fileprivate init(_ script: NWPathMonitor.Script.Interface) {
        var types = script.underlay.reduce(UsedTypes(script.type)) { $0.union(UsedTypes($1)) }
        if script.isExpensive { types.insert(.expensive) }
        if script.isConstrained { types.insert(.constrained) }
        let path = DefaultPath(requiresConnection: script.requiresConnection, types: types)
        interface = NWInterface(type: script.type, name: NameBytes(script.name), index: UInt32(clamping: script.index))
        paths = DefaultPaths(
            ipv4: script.supportsIPv4 ? path.through(script.gateways.first { $0.address?.isIPv6 == false }) : nil,
            ipv6: script.supportsIPv6 ? path.through(script.gateways.first { $0.address?.isIPv6 == true }) : nil)
    }
}

extension DefaultPath {
    fileprivate func through(_ gateway: NWEndpoint.Host?) -> DefaultPath {
        var path = self
        path.gateway = gateway?.address
        path.gatewayInterface = gateway?.interface
        return path
    }
}

extension NWEndpoint.Host {
    /// nil: a name.
    fileprivate var address: AddressBytes? {
        switch self {
        case .name: nil
        case .ipv4(let address): address.address
        case .ipv6(let address): address.address
        }
    }
}
#endif
