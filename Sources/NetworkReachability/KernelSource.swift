// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// The kernel's answers.
///
/// Callbacks come on the C library's own thread, so what is done there must be short, and nobody's code but ours.
package final class KernelSource: Source {
    private struct Watch {
        var onChange: (@Sendable () -> Bool)?
        var isScheduled = false
    }

    private let question: KernelTarget.Question
    private let options: ReachabilityOptions
    private let target: Mutex<KernelTarget?>
    /// Held while a target is scheduled and unscheduled, never while its callback runs.
    private let watch = Mutex(Watch())
    private let checkIsDue = Atomic(false)

    package init(_ question: KernelTarget.Question, _ options: ReachabilityOptions) throws(ReachabilityError) {
        self.question = question
        self.options = options
        target = Mutex(try KernelTarget(question, options))
    }

    /// The default path. Where no target can be had for it now, one is made as soon as that is possible.
    package init() {
        question = .defaultPath
        options = ReachabilityOptions()
        target = Mutex(try? KernelTarget(question, options))
    }

    package func path() -> ReachabilityPath? {
        if let path = currentTarget?.path() { return path }
        check(after: .seconds(1))
        return nil
    }

    package func start(onChange: @escaping @Sendable () -> Bool) {
        watch.withLock { watch in
            watch.onChange = onChange
            watch.isScheduled = schedule(onChange)
        }
        check(after: calm)
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

    private func schedule(_ onChange: @escaping @Sendable () -> Bool) -> Bool {
        let isScheduled = currentTarget?.schedule { [weak self] in
            _ = onChange()
            self?.check(after: calm)
        }
        return isScheduled ?? false
    }

    /// Asks once more, later.
    ///
    /// The library tells that something changed, and the path is asked for after that. What it then shows can have passed
    /// before the library looks again, which finds all as it has told it: no further callback comes. So a path is asked
    /// for again when things have calmed down, for as long as that shows something new. What failed is tried again in
    /// the same way.
    private func check(after delay: DispatchTimeInterval) {
        guard !checkIsDue.exchange(true, ordering: .relaxed) else { return }
        timers.asyncAfter(deadline: .now() + delay) { [weak self] in self?.check() }
    }

    private func check() {
        checkIsDue.store(false, ordering: .relaxed)
        let (onChange, isScheduled) = watch.withLock { watch in
            if let onChange = watch.onChange, !watch.isScheduled { watch.isScheduled = schedule(onChange) }
            return (watch.onChange, watch.isScheduled)
        }
        guard let onChange else { return }
        let isNew = onChange()
        if isNew { check(after: calm) } else if !isScheduled { check(after: .seconds(1)) }
    }
}

/// Far longer than the library takes to look again.
private let calm = DispatchTimeInterval.milliseconds(50)

let timers = DispatchQueue(label: "reachability.timers")
#endif
