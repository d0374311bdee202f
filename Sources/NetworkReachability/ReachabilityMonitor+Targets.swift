// SPDX-License-Identifier: MIT

#if os(Linux)
// All throwing initializers can throw `system` with an errno (no memory, no descriptors). Those with options can also
// throw `invalidInterface`.
extension ReachabilityMonitor {
    /// Monitors the default path: whether the machine has a working default route.
    ///
    /// If the system has no memory or descriptors left, the reason is ``ReachabilityReason/undetermined``. The monitor
    /// tries again while it has iterators or observers, and when ``path`` is read. Its network namespace is then that
    /// of the thread that succeeds.
    public convenience init() {
        self.init(source: KernelSource())
    }

    /// Monitors the default path with options: over one interface, with a routing mark, or with a settle time.
    public convenience init(options: ReachabilityOptions) throws(ReachabilityError) {
        self.init(source: try KernelSource(.defaultPath, options), settleTime: options.settleTime)
    }

    /// Monitors a host, by its name or by an address literal as `init(address:)` takes it.
    ///
    /// Throws ``ReachabilityError/Code/invalidHost``. A text such as "1", which connect(2) takes for 0.0.0.1, is no host.
    public convenience init(
        host: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        try HostName.validate(host)
        self.init(source: try KernelSource(.host(host), options), settleTime: options.settleTime)
    }

    /// Monitors the packets of one transport to a port of a host: as connect(2) for a socket of this program would
    /// decide. Policy rules can select by port.
    ///
    /// ```swift
    /// let database = try ReachabilityMonitor(host: "db.example.com", port: 5432, transport: .tcp)
    /// ```
    ///
    /// Throws as `init(host:)` does, and ``ReachabilityError/Code/system`` with ENOTSUP before Linux 4.18.
    public convenience init(
        host: String, port: UInt16, transport: ReachabilityTransport,
        options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        var options = options
        options.port = port
        options.transport = transport
        try self.init(host: host, options: options)
    }

    /// Monitors the packets of a connected socket: whether they can leave, and whether they leave as those of a new
    /// connection would (``ReachabilityPath/flow``). It says nothing about the other end.
    ///
    /// ```swift
    /// for await path in try ReachabilityMonitor(socket: descriptor) where !path.isViable {
    ///     print("the connection should be closed: \(path)")
    ///     break
    /// }
    /// ```
    ///
    /// Addresses, ports, protocol, interface, mark, traffic class and owner of the socket are read now. The descriptor is
    /// not kept. Call this on a thread in the network namespace of the socket.
    ///
    /// Throws ``ReachabilityError/Code/system`` with EBADF, ENOTSOCK or ENOTCONN, with ENOTSUP before Linux 4.18, and
    /// with the C library's status for a socket that is neither of IPv4 nor of IPv6.
    public convenience init(socket: CInt) throws(ReachabilityError) {
        self.init(source: try KernelSource(.socket(socket), ReachabilityOptions()))
    }

    /// Monitors an address. `0.0.0.0` and `::` are the default path.
    ///
    /// Throws ``ReachabilityError/Code/invalidAddress`` if the options have another family.
    public convenience init(
        address: IPAddress, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        try self.init(localAddress: nil, remoteAddress: address, options: options)
    }

    /// Monitors an address as text, which is parsed as in inet_pton(3). IPv6 may have a `%zone`: the name or number of an
    /// interface. The interface need not exist yet, and is followed by its name.
    ///
    /// Throws ``ReachabilityError/Code/invalidAddress``.
    public convenience init(
        address: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        guard AddressLiteral(address) != nil else { throw ReachabilityError(.invalidAddress) }
        // Passed as a host, because the C library then follows the zone by its name.
        self.init(source: try KernelSource(.host(address), options), settleTime: options.settleTime)
    }

    /// Monitors whether `remoteAddress` is reachable from `localAddress`. If one of them is nil, the other is the
    /// target.
    ///
    /// Throws ``ReachabilityError/Code/invalidAddress`` if both are nil, or of different families.
    public convenience init(
        localAddress: IPAddress?, remoteAddress: IPAddress?, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        self.init(
            source: try KernelSource(.addresses(local: localAddress, remote: remoteAddress), options),
            settleTime: options.settleTime)
    }
}
#endif
