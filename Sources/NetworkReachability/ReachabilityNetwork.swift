// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability
import Synchronization

/// All default paths of a network namespace, and its name servers.
///
/// ```swift
/// for await network in try ReachabilityNetwork.updates() {
///     print(network.uplinks.map(\.interface.name), network.nameServers)
/// }
/// ```
public struct ReachabilityNetwork: Sendable, Hashable {
    /// The default path of IPv4: over the uplink that the kernel chooses.
    public var ipv4 = DefaultPath()
    /// The default path of IPv6.
    public var ipv6 = DefaultPath()
    /// The flags of 127.0.0.1.
    public var ipv4LoopbackFlags: ReachabilityFlags = []
    /// The flags of ::1.
    public var ipv6LoopbackFlags: ReachabilityFlags = []
    /// First the one that the kernel chooses for IPv4, then the one for IPv6, then all others by metric.
    public var uplinks: [Uplink] = []
    /// false: only the uplinks that the kernel chooses are known.
    public var uplinksAreComplete = true
    /// At most three: those of /etc/resolv.conf, or those that systemd-resolved uses.
    public var nameServers: [IPAddress] = []
    /// Whether a packet can leave for at least one of them.
    public var hasReachableNameServer = false
    /// Where the library has this from.
    public var evidence = ReachabilityEvidence.kernel

    /// Makes a network without a default path, for tests.
    public init() {}

    /// The path of packets of one family for which only a default route matches.
    public struct DefaultPath: Sendable, Hashable {
        /// The flags, as Apple defines them.
        public var flags: ReachabilityFlags = []
        /// Why packets cannot take a default path. nil: they can.
        public var reason: ReachabilityReason? = .noRoute
        /// The index of the interface. nil: there is none, or it is not known.
        public var interfaceIndex: UInt32?
        /// That of the default route. The kernel prefers the smaller.
        public var metric: UInt32 = 0
        /// The source address of packets.
        public var source: IPAddress?
        /// nil: there is none.
        public var gateway: IPAddress?

        /// Makes a path that is not reachable, for tests.
        public init() {}

        /// Whether packets can take a default path.
        public var isReachable: Bool { flags.contains(.reachable) }
    }

    /// An interface that is up, has a carrier, and has a usable default path in one family or in both.
    public struct Uplink: Sendable, Hashable {
        /// The interface.
        public var interface: ReachabilityPath.Interface
        /// Whether it leads out of a container or a virtual machine: a veth, macvlan, or an interface above one of these.
        public var leadsOut = false
        /// The default path of IPv4 over it.
        public var ipv4 = DefaultPath()
        /// The default path of IPv6 over it.
        public var ipv6 = DefaultPath()
        /// Of a tunnel, the types of the interfaces that its packets leave over, as far as the kernel shows them.
        public var ipv4UnderlayTypes: Set<ReachabilityPath.Interface.InterfaceType> = []
        /// The same for IPv6.
        public var ipv6UnderlayTypes: Set<ReachabilityPath.Interface.InterfaceType> = []

        /// Makes an uplink without a default path, for tests.
        public init(interface: ReachabilityPath.Interface) {
            self.interface = interface
        }
    }
}

extension ReachabilityNetwork {
    /// The network of the calling thread's namespace now. Queries the kernel at least six times for each interface, and may
    /// wait for its locks.
    ///
    /// Throws ``ReachabilityError/Code/system``.
    public static func current() throws(ReachabilityError) -> ReachabilityNetwork {
        guard let network = try KernelTarget(.network, ReachabilityOptions()).network() else { throw .last }
        return network
    }

    /// The network of the calling thread's namespace now, and after each change. A slow iteration gets only the newest. The
    /// kernel is watched until the iteration ends.
    ///
    /// Throws ``ReachabilityError/Code/system``.
    public static func updates() throws(ReachabilityError) -> some AsyncSequence<ReachabilityNetwork, Never> & Sendable
    {
        let target = try KernelTarget(.network, ReachabilityOptions())
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReachabilityNetwork.self, bufferingPolicy: .bufferingNewest(1))
        let feed = NetworkFeed(target, continuation)
        guard target.schedule(feed.send) else { throw .last }
        continuation.onTermination = { _ in target.unschedule() }
        feed.send()
        return stream
    }
}

/// Sends what the target of a network reports. The target's callback keeps it.
private final class NetworkFeed: Sendable {
    private let target: KernelTarget
    private let continuation: AsyncStream<ReachabilityNetwork>.Continuation
    /// Held from reading to sending, so that an older network does not come after a newer one.
    private let last = Mutex<ReachabilityNetwork?>(nil)

    init(_ target: KernelTarget, _ continuation: AsyncStream<ReachabilityNetwork>.Continuation) {
        self.target = target
        self.continuation = continuation
    }

    @Sendable func send() {
        last.withLock { last in
            guard let network = target.network(), network != last else { return }
            last = network
            continuation.yield(network)
        }
    }
}

extension KernelTarget {
    /// The latest evaluation of a scheduled target. If the target is not scheduled, this queries the kernel.
    fileprivate func network() -> ReachabilityNetwork? {
        var network = SCNetworkReachabilityNetwork()
        var uplinks: [SCNetworkReachabilityUplink] = []
        repeat {
            network.size = MemoryLayout<SCNetworkReachabilityNetwork>.size
            uplinks = Array(repeating: SCNetworkReachabilityUplink(), count: max(Int(network.uplinkCount), 4))
            let size = MemoryLayout<SCNetworkReachabilityUplink>.stride
            guard SCNetworkReachabilityGetNetwork(target, &network, &uplinks, size, uplinks.count) else { return nil }
        } while network.uplinkCount > uplinks.count
        return ReachabilityNetwork(network, uplinks.prefix(Int(network.uplinkCount)))
    }
}

extension ReachabilityNetwork {
    fileprivate init(_ network: SCNetworkReachabilityNetwork, _ uplinks: ArraySlice<SCNetworkReachabilityUplink>) {
        ipv4 = DefaultPath(network.ipv4)
        ipv6 = DefaultPath(network.ipv6)
        ipv4LoopbackFlags = ReachabilityFlags(rawValue: network.ipv4LoopbackFlags.rawValue)
        ipv6LoopbackFlags = ReachabilityFlags(rawValue: network.ipv6LoopbackFlags.rawValue)
        self.uplinks = uplinks.compactMap(Uplink.init)
        uplinksAreComplete = network.uplinksAreComplete != 0
        nameServers = withUnsafeBytes(of: network.nameServers) { bytes in
            bytes.bindMemory(to: sockaddr_storage.self).prefix(Int(network.nameServerCount)).compactMap(IPAddress.init)
        }
        hasReachableNameServer = network.nameServerIsReachable != 0
        evidence = ReachabilityEvidence(rawValue: network.evidence)
    }
}

extension ReachabilityNetwork.DefaultPath {
    fileprivate init(_ path: SCNetworkReachabilityDefaultPath) {
        flags = ReachabilityFlags(rawValue: path.flags.rawValue)
        reason = ReachabilityReason(ofPath: path.reason)
        interfaceIndex = path.interfaceIndex == 0 ? nil : path.interfaceIndex
        metric = path.metric
        source = IPAddress(path.source)
        gateway = IPAddress(path.gateway)
    }
}

extension ReachabilityNetwork.Uplink {
    fileprivate init?(_ uplink: SCNetworkReachabilityUplink) {
        guard
            let interface = ReachabilityPath.Interface(
                uplink.interfaceIndex, uplink.interfaceName, uplink.interfaceType)
        else { return nil }
        self.interface = interface
        leadsOut = uplink.interfaceLeadsOut != 0
        ipv4 = ReachabilityNetwork.DefaultPath(uplink.ipv4)
        ipv6 = ReachabilityNetwork.DefaultPath(uplink.ipv6)
        ipv4UnderlayTypes = types(uplink.ipv4UnderlayTypes)
        ipv6UnderlayTypes = types(uplink.ipv6UnderlayTypes)
    }
}

/// A bit for each type.
private func types(_ bits: UInt32) -> Set<ReachabilityPath.Interface.InterfaceType> {
    Set((0..<32).filter { bits & 1 << $0 != 0 }.map { .init(rawValue: $0) })
}
#endif
