// SPDX-License-Identifier: MIT

#if os(Linux)
// The errors that all of these have in common: `system`, with an errno (no memory, no descriptors), and with options
// `invalidInterface`.
extension ReachabilityMonitor {
    /// The default path: whether there is a way to anywhere. Where the system refuses what that takes, it is tried again
    /// as long as somebody listens, or when ``path`` is read; until then the reason is
    /// ``ReachabilityReason/undetermined``, and the network namespace is that of the thread that tries.
    public convenience init() {
        self.init(source: KernelSource())
    }

    /// The default path, out of an interface, with a routing mark, or told when it has settled.
    public convenience init(options: ReachabilityOptions) throws(ReachabilityError) {
        self.init(source: try KernelSource(.defaultPath, options), settleTime: options.settleTime)
    }

    /// A host, by name; or an address literal, as `init(address:)` takes it.
    ///
    /// Throws ``ReachabilityError/Code/emptyHost``, `hostHasScheme`, `hostHasSlash`, `hostHasWhiteSpace`, `hostHasNUL` or
    /// `hostTooLong`.
    public convenience init(
        host: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        try HostName.validate(host)
        self.init(source: try KernelSource(.host(host), options), settleTime: options.settleTime)
    }

    /// An address literal: IPv4 as inet_aton(3) reads it, IPv6 with an optional `%zone`, the name or number of an
    /// interface, which need not exist yet. `0.0.0.0` and `::` are the default path.
    ///
    /// Throws ``ReachabilityError/Code/invalidAddress``.
    public convenience init(
        address: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        guard AddressLiteral(address) != nil else { throw ReachabilityError(.invalidAddress) }
        // The library reads the literal itself, and then follows a zone by its name.
        self.init(source: try KernelSource(.host(address), options), settleTime: options.settleTime)
    }

    /// Whether `remoteAddress` can be reached from `localAddress`. With one of the two alone, that is the target; a zone
    /// has to exist.
    ///
    /// Throws ``ReachabilityError/Code/invalidAddress``, `addressMissing` or `addressFamiliesDiffer`.
    public convenience init(
        localAddress: String?, remoteAddress: String?, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(ReachabilityError) {
        let local = try address(localAddress)
        let remote = try address(remoteAddress)
        if local == nil && remote == nil { throw ReachabilityError(.addressMissing) }
        if let local, let remote, local.isIPv6 != remote.isIPv6 { throw ReachabilityError(.addressFamiliesDiffer) }
        self.init(
            source: try KernelSource(.addresses(local: local, remote: remote), options),
            settleTime: options.settleTime)
    }
}

private func address(_ literal: String?) throws(ReachabilityError) -> ReachabilityPath.Address? {
    guard let literal else { return nil }
    guard let address = ReachabilityPath.Address(literal) else { throw ReachabilityError(.invalidAddress) }
    return address
}
#endif
