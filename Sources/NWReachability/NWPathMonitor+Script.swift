// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

extension NWPathMonitor {
    /// Supplies the network of monitors, so that a program's tests need no network. Network.framework has nothing alike.
    ///
    /// ```swift
    /// let script = NWPathMonitor.Script(.wifi)
    /// let uploads = Uploads(monitor: NWPathMonitor(script: script))
    /// script.play(.offline)
    /// ```
    public final class Script: Sendable {
        private let source: ScriptSource

        public init(_ network: Network = .offline) {
            source = ScriptSource(network)
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

    public convenience init(script: Script, requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(script.networkSource, .required(requiredInterfaceType))
    }

    public convenience init(script: Script, prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(script.networkSource, Requirement(prohibiting: prohibitedInterfaceTypes))
    }
}

extension NWPathMonitor.Script {
    /// An interface with a default route.
    public struct Interface: Sendable, Hashable {
        public var name: String
        public var type: NWInterface.InterfaceType
        public var index: Int
        /// The families in which packets can leave.
        public var supportsIPv4: Bool
        public var supportsIPv6: Bool
        public var gateways: [NWEndpoint.Host]
        /// The types of the interfaces that carry a tunnel.
        public var carriers: [NWInterface.InterfaceType]
        /// Packets can leave after a connection is made.
        public var requiresConnection: Bool

        public init(
            _ name: String, type: NWInterface.InterfaceType, index: Int, supportsIPv4: Bool = true,
            supportsIPv6: Bool = false, gateways: [NWEndpoint.Host] = [], carriers: [NWInterface.InterfaceType] = [],
            requiresConnection: Bool = false
        ) {
            self.name = name
            self.type = type
            self.index = index
            self.supportsIPv4 = supportsIPv4
            self.supportsIPv6 = supportsIPv6
            self.gateways = gateways
            self.carriers = carriers
            self.requiresConnection = requiresConnection
        }
    }

    /// Interfaces, in the order in which the kernel prefers them, and name servers.
    public struct Network: Sendable, Hashable {
        public var interfaces: [Interface]
        public var nameServers: [NWEndpoint.Host]
        /// Whether a packet can leave for one of the name servers.
        public var canReachNameServers: Bool
        public var isLoopbackUp: Bool

        public init(
            interfaces: [Interface] = [], nameServers: [NWEndpoint.Host] = ["192.0.2.53"],
            canReachNameServers: Bool = true, isLoopbackUp: Bool = true
        ) {
            self.interfaces = interfaces
            self.nameServers = nameServers
            self.canReachNameServers = canReachNameServers
            self.isLoopbackUp = isLoopbackUp
        }

        /// Only lo.
        public static let offline = Network(canReachNameServers: false)
        public static let wifi = Network(interfaces: [
            Interface("wlan0", type: .wifi, index: 2, supportsIPv6: true, gateways: ["192.0.2.1"])
        ])
        public static let cellular = Network(interfaces: [
            Interface("wwan0", type: .cellular, index: 3, gateways: ["198.51.100.1"])
        ])
        public static let wiredEthernet = Network(interfaces: [
            Interface("eth0", type: .wiredEthernet, index: 4, supportsIPv6: true, gateways: ["203.0.113.1"])
        ])
    }
}

private final class ScriptSource: NetworkSource {
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
        let (update, receivers) = state.withLock { state in
            state.network = network
            let isNew = state.list.set(NetworkState(network), isWhole: true)
            return (state.list.latest, isNew ? state.list.all : [])
        }
        for receiver in receivers { receiver.receive(update) }
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
        ways = network.interfaces.map(Way.init)
        chosen = (0...1).map { family in ways.lazy.compactMap { $0.paths[family] }.first }
        let loopbackPath = network.isLoopbackUp ? DefaultPath(types: UsedTypes(.loopback)) : nil
        loopback = [loopbackPath, loopbackPath]
        nameServers = network.nameServers.compactMap(\.addressBytes)
        isNameServerReachable = network.canReachNameServers && !network.nameServers.isEmpty
    }
}

extension NetworkState.Way {
    fileprivate init(_ interface: NWPathMonitor.Script.Interface) {
        let types = interface.carriers.reduce(UsedTypes(interface.type)) { $0.union(UsedTypes($1)) }
        func path(_ isSupported: Bool, _ isInFamily: (NWEndpoint.Host) -> Bool) -> NetworkState.DefaultPath? {
            guard isSupported else { return nil }
            return NetworkState.DefaultPath(
                requiresConnection: interface.requiresConnection, types: types,
                gateway: interface.gateways.first(where: isInFamily))
        }
        self.init(
            interface: NWInterface(type: interface.type, name: interface.name, index: interface.index),
            paths: [
                path(interface.supportsIPv4) { if case .ipv6 = $0 { false } else { true } },
                path(interface.supportsIPv6) { if case .ipv6 = $0 { true } else { false } },
            ])
    }
}

extension NWEndpoint.Host {
    fileprivate var addressBytes: AddressBytes? {
        switch self {
        case .name: nil
        case .ipv4(let address): address.address
        case .ipv6(let address): address.address
        }
    }
}
#endif
