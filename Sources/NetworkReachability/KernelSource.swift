// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability
import Dispatch
internal import ReachabilityInternals
import Synchronization

/// Where a monitor gets its paths from: the kernel, or a script.
///
/// The monitor alternates `start` and `stop`, one call at a time. It calls `path()` at any time, on any thread. It may
/// hold a lock in each call, so none of them may run a user's code.
package protocol Source: Sendable {
    /// The path now. nil: it cannot be determined.
    func path() -> ReachabilityPath?

    /// From now on, calls `onChange` from any thread when `path()` may have changed.
    func start(onChange: @escaping @Sendable () -> Void)

    /// A call of `onChange` that has begun may end after this returns.
    func stop()

    /// All addresses of the target.
    var addresses: [IPAddress] { get }

    /// What the source is, for logs.
    var description: String { get }
}

extension Source {
    package var addresses: [IPAddress] { path()?.destination.map { [$0] } ?? [] }
    package var description: String { path()?.description ?? "" }
}

/// The paths of a target, as the kernel has them.
///
/// `onChange` is called on the C library's own thread. It must return soon, and must not run a user's code.
package final class KernelSource: Source {
    private struct ScheduleState {
        var onChange: (@Sendable () -> Void)?
        var isScheduled = false
    }

    private let kind: KernelTarget.Kind
    private let options: ReachabilityOptions
    private let target: Mutex<KernelTarget?>
    /// Held while a target is scheduled or unscheduled, never while its callback runs.
    private let schedule = Mutex(ScheduleState())
    private let isRetrySet = Atomic(false)

    package init(_ kind: KernelTarget.Kind, _ options: ReachabilityOptions) throws(ReachabilityError) {
        if let interface = options.interface, !isInterfaceName(interface) {
            throw ReachabilityError(.invalidInterface)
        }
        self.kind = kind
        self.options = options
        target = Mutex(try KernelTarget(kind, options))
    }

    /// The default path. If its target cannot be made now, it is made as soon as possible: in the network namespace of
    /// the thread that then makes it.
    package init() {
        kind = .defaultPath
        options = ReachabilityOptions()
        target = Mutex(try? KernelTarget(kind, options))
    }

    package func path() -> ReachabilityPath? {
        if let path = currentTarget?.path() { return path }
        setRetry()
        return nil
    }

    package func start(onChange: @escaping @Sendable () -> Void) {
        schedule.withLock { schedule in
            schedule.onChange = onChange
            schedule.isScheduled = scheduleTarget(onChange)
            if !schedule.isScheduled { setRetry() }
        }
    }

    package func stop() {
        schedule.withLock { schedule in
            if schedule.isScheduled { currentTarget?.unschedule() }
            schedule = ScheduleState()
        }
    }

    package var addresses: [IPAddress] { currentTarget?.addresses ?? [] }
    package var description: String { currentTarget?.description ?? "" }

    private var currentTarget: KernelTarget? {
        target.withLock { target in
            if target == nil { target = try? KernelTarget(kind, options) }
            return target
        }
    }

    private func scheduleTarget(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        currentTarget?.schedule(onChange) ?? false
    }

    /// A call failed, mostly because memory or descriptors ran out. It is tried again in a second.
    private func setRetry() {
        guard !isRetrySet.exchange(true, ordering: .relaxed) else { return }
        timerQueue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.retry() }
    }

    private func retry() {
        isRetrySet.store(false, ordering: .relaxed)
        let (onChange, isScheduled) = schedule.withLock { schedule in
            if let onChange = schedule.onChange, !schedule.isScheduled {
                schedule.isScheduled = scheduleTarget(onChange)
            }
            return (schedule.onChange, schedule.isScheduled)
        }
        guard let onChange else { return }
        onChange()
        if !isScheduled { setRetry() }
    }
}

let timerQueue = DispatchQueue(label: "reachability.timers")

/// A target of the C library.
///
/// A class, because Swift 6.3 crashes on an optional structure that holds a target, in files that do not import
/// CReachability.
// Unchecked Sendable: the only property is a constant. The C library's own locks guard the target, so each call is safe
// from any thread, at the same time as any other.
package final class KernelTarget: @unchecked Sendable {
    package enum Kind: Sendable {
        case defaultPath
        /// All default paths.
        case network
        case host(String)
        case addresses(local: IPAddress?, remote: IPAddress?)
        /// The descriptor is used only while the target is made.
        case socket(Int32)

        fileprivate var isSocket: Bool { if case .socket = self { true } else { false } }
    }

    /// The C target, for calls that have no Swift form: scheduling on a run loop, the description.
    package let target: SCNetworkReachability

    /// `notifiesPath`: `onChange` is called when the path changes, not only when the flags do.
    package init(
        _ kind: Kind, _ options: ReachabilityOptions, notifiesPath: Bool = true
    ) throws(ReachabilityError) {
        guard let target = makeTarget(kind, options, notifiesPath) else {
            let detail = String(cString: SCErrorDetail())
            if SCError() == __kSCStatusInvalidArgument, !kind.isSocket {
                let isInterface = options.interface != nil && detail.hasPrefix("interfaceName:")
                throw ReachabilityError(isInterface ? .invalidInterface : .invalidAddress, detail: detail)
            }
            throw .last
        }
        self.target = target
    }

    /// Returns the last path that the library evaluated, if the target is scheduled: the library reports each change of
    /// it. Otherwise queries the kernel. Returns nil if the query fails.
    package func path() -> ReachabilityPath? {
        var path = SCNetworkReachabilityPath()
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        return SCNetworkReachabilityGetLastPath(target, &path) ? ReachabilityPath(path) : nil
    }

    /// All addresses of a name, in the order of the look-up; of an address, itself. None: the default path, or a name that
    /// is not looked up.
    package var addresses: [IPAddress] {
        var storages: [sockaddr_storage] = []
        var count = SCNetworkReachabilityGetResolvedAddresses(target, nil, 0)
        while count > storages.count {
            storages = Array(repeating: sockaddr_storage(), count: count)
            count = SCNetworkReachabilityGetResolvedAddresses(target, &storages, storages.count)
        }
        return storages.prefix(count).compactMap(IPAddress.init)
    }

    /// Several lines, for people.
    package var description: String {
        String { SCNetworkReachabilityGetDescription(target, $0, $1) }
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
    options.trafficClass = monitorOptions.trafficClass
    options.protocol = UInt8(monitorOptions.transport.map { $0 == .tcp ? IPPROTO_TCP : IPPROTO_UDP } ?? 0)
    if case .network = kind {
        options.options |= SCNetworkReachabilityOption.notifyNetwork.rawValue
    } else if notifiesPath {
        options.options |= SCNetworkReachabilityOption.notifyPath.rawValue
    }
    if monitorOptions.reportsNextHop { options.options |= SCNetworkReachabilityOption.notifyNextHop.rawValue }

    switch monitorOptions.addressFamily {
    case .ipv4: options.options |= SCNetworkReachabilityOption.ipv4Only.rawValue
    case .ipv6: options.options |= SCNetworkReachabilityOption.ipv6Only.rawValue
    case nil: break
    }

    func makeTarget(
        host: String? = nil, local: IPAddress? = nil, remote: IPAddress? = nil
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
    case .defaultPath, .network:
        let isIPv6 = monitorOptions.addressFamily == .ipv6
        return makeTarget(remote: IPAddress(isIPv6 ? "::" : "0.0.0.0"))
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
