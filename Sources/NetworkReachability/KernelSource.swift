// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// The kernel's answers.
///
/// Callbacks come on the C library's own thread, so what is done there must be short, and nobody's code but ours.
package final class KernelSource: Source {
    private struct Watch {
        var onChange: (@Sendable () -> Void)?
        var isScheduled = false
    }

    private let question: KernelTarget.Question
    private let options: ReachabilityOptions
    private let target: Mutex<KernelTarget?>
    /// Held while a target is scheduled and unscheduled, never while its callback runs.
    private let watch = Mutex(Watch())
    private let retryIsDue = Atomic(false)

    package init(_ question: KernelTarget.Question, _ options: ReachabilityOptions) throws(ReachabilityError) {
        if let interface = options.interface, !isInterfaceName(interface) {
            throw ReachabilityError(.invalidInterface)
        }
        self.question = question
        self.options = options
        target = Mutex(try KernelTarget(question, options))
    }

    /// The default path. Where no target can be had for it now, one is made as soon as that is possible: in the network
    /// namespace of the thread that then makes it.
    package init() {
        question = .defaultPath
        options = ReachabilityOptions()
        target = Mutex(try? KernelTarget(question, options))
    }

    package func path() -> ReachabilityPath? {
        if let path = currentTarget?.path() { return path }
        retry()
        return nil
    }

    package func start(onChange: @escaping @Sendable () -> Void) {
        watch.withLock { watch in
            watch.onChange = onChange
            watch.isScheduled = schedule(onChange)
            if !watch.isScheduled { retry() }
        }
    }

    package func stop() {
        watch.withLock { watch in
            if watch.isScheduled { currentTarget?.unschedule() }
            watch = Watch()
        }
    }

    private var currentTarget: KernelTarget? {
        target.withLock { target in
            if target == nil { target = try? KernelTarget(question, options) }
            return target
        }
    }

    private func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        currentTarget?.schedule(onChange) ?? false
    }

    /// What failed, for want of memory or descriptors as a rule, is tried again in a second.
    private func retry() {
        guard !retryIsDue.exchange(true, ordering: .relaxed) else { return }
        timers.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.tryAgain() }
    }

    private func tryAgain() {
        retryIsDue.store(false, ordering: .relaxed)
        let (onChange, isScheduled) = watch.withLock { watch in
            if let onChange = watch.onChange, !watch.isScheduled { watch.isScheduled = schedule(onChange) }
            return (watch.onChange, watch.isScheduled)
        }
        guard let onChange else { return }
        onChange()
        if !isScheduled { retry() }
    }
}

let timers = DispatchQueue(label: "reachability.timers")
#endif
