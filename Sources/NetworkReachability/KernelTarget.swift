// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability

/// A target of the C library.
///
/// A class, as Swift 6.3 crashes on an optional structure that holds a target, in files that do not import
/// CReachability.
// Unchecked: each of these calls may come from any thread, at the same time as any other.
package final class KernelTarget: @unchecked Sendable {
    /// What is asked about.
    package enum Question: Sendable {
        case defaultPath
        case host(String)
        case addresses(local: ReachabilityPath.Address?, remote: ReachabilityPath.Address?)
    }

    /// For what has no Swift form: a run loop's schedule, the description.
    package let target: SCNetworkReachability

    /// `notifiesPath`: `onChange` is called when the path changes, not only when the flags do.
    package init(
        _ question: Question, _ options: ReachabilityOptions, notifiesPath: Bool = true
    ) throws(ReachabilityError) {
        guard let target = create(question, options, notifiesPath) else {
            let status = SCError()
            // All that can be wrong with a host or an address was looked at before: the interface contradicts a zone.
            let isInterface = options.interface != nil && status == __kSCStatusInvalidArgument
            throw isInterface ? ReachabilityError(.invalidInterface) : ReachabilityError(.system, errno: status)
        }
        self.target = target
    }

    /// While scheduled, what the library evaluated last, which any change is told of; else the kernel's answer now. nil:
    /// it cannot be asked.
    func path() -> ReachabilityPath? {
        var path = SCNetworkReachabilityPath()
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        return SCNetworkReachabilityGetLastPath(target, &path) ? ReachabilityPath(path) : nil
    }

    /// Calls `onChange` on the library's own thread at every change: the scheduler runs the work where it is handed
    /// over, so that there is no hop between the kernel's message and us. Answers whether that can be done.
    func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        let callback = Unmanaged.passRetained(Callback(onChange))
        defer { callback.release() }
        var context = CNetworkReachabilityContext()
        context.info = callback.toOpaque()
        // With both hooks, what a call under way is given outlives `unschedule`.
        context.retain = { UnsafeRawPointer(Unmanaged<Callback>.fromOpaque($0).retain().toOpaque()) }
        context.release = { Unmanaged<Callback>.fromOpaque($0).release() }
        var scheduler = SCNetworkReachabilityScheduler()
        scheduler.perform = { _, work, argument in work(argument) }
        guard
            __SCNetworkReachabilitySetCallback(
                target,
                { _, _, info in
                    guard let info else { return }
                    Unmanaged<Callback>.fromOpaque(info).takeUnretainedValue().body()
                },
                &context)
        else { return false }
        if SCNetworkReachabilitySetScheduler(target, &scheduler) { return true }
        _ = __SCNetworkReachabilitySetCallback(target, nil, nil)
        return false
    }

    /// A call that is under way may still end after this.
    func unschedule() {
        _ = SCNetworkReachabilitySetScheduler(target, nil)
        _ = __SCNetworkReachabilitySetCallback(target, nil, nil)
    }
}

private final class Callback: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

private func create(
    _ question: KernelTarget.Question, _ bound: ReachabilityOptions, _ notifiesPath: Bool
) -> SCNetworkReachability? {
    var options = SCNetworkReachabilityOptions()
    options.size = MemoryLayout<SCNetworkReachabilityOptions>.size
    options.routingMark = bound.routingMark
    if notifiesPath { options.options = SCNetworkReachabilityOption.notifyPath.rawValue }

    func create(
        host: String? = nil, local: ReachabilityPath.Address? = nil, remote: ReachabilityPath.Address? = nil
    ) -> SCNetworkReachability? {
        withCString(host) { host in
            withCString(bound.interface) { interface in
                withSocketAddress(local) { local in
                    withSocketAddress(remote) { remote in
                        options.nodename = host
                        options.interfaceName = interface
                        options.localAddress = local
                        options.remoteAddress = remote
                        return SCNetworkReachabilityCreateWithOptions(nil, &options)
                    }
                }
            }
        }
    }

    switch question {
    case .defaultPath: return create(remote: ReachabilityPath.Address("0.0.0.0"))
    case .host(let host): return create(host: host)
    case .addresses(let local, let remote): return create(local: local, remote: remote)
    }
}

private func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}
#endif
