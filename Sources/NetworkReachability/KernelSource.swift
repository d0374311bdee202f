// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

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
#endif
