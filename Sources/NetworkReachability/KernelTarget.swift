// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability
internal import ReachabilityMonitorSupport

/// A target of the C library.
///
/// A class, because Swift 6.3 crashes on an optional structure that holds a target, in files that do not import
/// CReachability.
// Unchecked Sendable: the only property is a constant. The C library's own locks guard the target, so each call is safe
// from any thread, at the same time as any other.
package final class KernelTarget: @unchecked Sendable {
    package enum Kind: Sendable {
        case defaultPath
        case host(String)
        case addresses(local: ReachabilityPath.Address?, remote: ReachabilityPath.Address?)
        /// The descriptor is used only while the target is made.
        case socket(Int32)
    }

    /// The C target, for calls that have no Swift form: scheduling on a run loop, the description.
    package let target: SCNetworkReachability

    /// `notifiesPath`: `onChange` is called when the path changes, not only when the flags do.
    package init(
        _ kind: Kind, _ options: ReachabilityOptions, notifiesPath: Bool = true
    ) throws(ReachabilityError) {
        guard let target = makeTarget(kind, options, notifiesPath) else {
            let status = SCError()
            // The host or the addresses are valid, as the monitor checked them. So the interface contradicts a zone, or the
            // address is not of the family.
            if status == __kSCStatusInvalidArgument && options.interface != nil {
                throw ReachabilityError(.invalidInterface)
            }
            if status == __kSCStatusInvalidArgument && options.addressFamily != nil {
                throw ReachabilityError(.addressFamiliesDiffer)
            }
            throw ReachabilityError(.system, errno: status)
        }
        self.target = target
    }

    /// Returns the last path that the library evaluated, if the target is scheduled: the library reports each change of
    /// it. Otherwise queries the kernel. Returns nil if the query fails.
    func path() -> ReachabilityPath? {
        var path = SCNetworkReachabilityPath()
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        return SCNetworkReachabilityGetLastPath(target, &path) ? ReachabilityPath(path) : nil
    }

    /// Calls `onChange` on the library's own thread at every change. Returns false if the target cannot be scheduled.
    func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        target.schedule(onChange)
    }

    /// A call that has begun may end after this returns.
    func unschedule() {
        target.unschedule()
    }
}

private func makeTarget(
    _ kind: KernelTarget.Kind, _ monitorOptions: ReachabilityOptions, _ notifiesPath: Bool
) -> SCNetworkReachability? {
    var options = SCNetworkReachabilityOptions()
    options.size = MemoryLayout<SCNetworkReachabilityOptions>.size
    options.routingMark = monitorOptions.routingMark
    options.protocol = UInt8(monitorOptions.transport.map { $0 == .tcp ? IPPROTO_TCP : IPPROTO_UDP } ?? 0)
    if notifiesPath { options.options |= SCNetworkReachabilityOption.notifyPath.rawValue }
    if monitorOptions.reportsNextHop { options.options |= SCNetworkReachabilityOption.notifyNextHop.rawValue }

    switch monitorOptions.addressFamily {
    case .ipv4: options.options |= SCNetworkReachabilityOption.ipv4Only.rawValue
    case .ipv6: options.options |= SCNetworkReachabilityOption.ipv6Only.rawValue
    case nil: break
    }

    func makeTarget(
        host: String? = nil, local: ReachabilityPath.Address? = nil, remote: ReachabilityPath.Address? = nil
    ) -> SCNetworkReachability? {
        withCString(host) { host in
            withCString(monitorOptions.interface) { interface in
                withSocketAddress(local) { local in
                    withSocketAddress(remote, port: monitorOptions.port) { remote in
                        options.nodename = host
                        options.remotePort = host == nil ? 0 : monitorOptions.port
                        options.interfaceName = interface
                        options.localAddress = local
                        options.remoteAddress = remote
                        return SCNetworkReachabilityCreateWithOptions(nil, &options)
                    }
                }
            }
        }
    }

    switch kind {
    case .defaultPath:
        let isIPv6 = monitorOptions.addressFamily == .ipv6
        return makeTarget(remote: ReachabilityPath.Address(isIPv6 ? "::" : "0.0.0.0"))
    case .host(let host): return makeTarget(host: host)
    case .addresses(let local, let remote): return makeTarget(local: local, remote: remote)
    case .socket(let descriptor): return SCNetworkReachabilityCreateWithSocket(nil, descriptor)
    }
}

private func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}
#endif
