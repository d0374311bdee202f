// SPDX-License-Identifier: MIT

#if os(Linux)
/// What a monitor's packets are bound to, and when the monitor reports changes.
public struct ReachabilityOptions: Sendable, Hashable {
    /// The name of an interface. Only routes over it count. It need not exist yet, and it may get a new index: the name
    /// counts.
    public var interface: String?
    /// The only family of addresses that counts. A host without such an address is not found, and the default path is that
    /// of the family. nil: both. An address of the other family is an error.
    public var addressFamily: ReachabilityAddressFamily?
    /// The mark of the program's sockets (SO_MARK), which routing rules may match. 0: none.
    public var routingMark: UInt32
    /// The traffic class of the program's sockets (IP_TOS, IPV6_TCLASS), which routing rules may match.
    public var trafficClass: UInt8
    /// The settle time, for interfaces that flap. A change is reported when nothing has changed for this time. A change
    /// that is undone within this time is not reported. If the changes go on, one is reported after ten times this
    /// time. Zero or less: each change is reported at once. ``ReachabilityMonitor/path`` does not wait.
    public var settleTime: Duration
    /// Whether the monitor also reports that the next hop fails, that it responds again, and that the path has another
    /// one because it has failed: see ``ReachabilityPath/nextHop``.
    public var reportsNextHop: Bool
    /// nil: ports do not count. The initializer with a port sets it.
    package var transport: ReachabilityTransport?
    /// 0: any.
    package var port: UInt16 = 0

    /// Makes options. Without arguments they change nothing.
    public init(
        interface: String? = nil, addressFamily: ReachabilityAddressFamily? = nil, routingMark: UInt32 = 0,
        trafficClass: UInt8 = 0, settleTime: Duration = .zero, reportsNextHop: Bool = false
    ) {
        self.interface = interface
        self.addressFamily = addressFamily
        self.routingMark = routingMark
        self.trafficClass = trafficClass
        self.settleTime = settleTime
        self.reportsNextHop = reportsNextHop
    }
}

/// A family of addresses.
public enum ReachabilityAddressFamily: Sendable, Hashable {
    /// IPv4.
    case ipv4
    /// IPv6.
    case ipv6
}

/// The protocol of the packets to a port.
public enum ReachabilityTransport: Sendable, Hashable {
    /// TCP.
    case tcp
    /// UDP.
    case udp
}
#endif
