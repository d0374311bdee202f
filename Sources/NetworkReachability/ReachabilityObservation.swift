// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch

/// An observer's token: it observes for as long as this object lives, or until it is cancelled.
public final class ReachabilityObservation: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends the observing. On the queue that the observer is called on, nothing more comes once this has returned; from
    /// elsewhere at most the call that is under way ends.
    public func cancel() {
        end()
    }
}

extension ReachabilityMonitor {
    /// Calls `body` with the current path, and then with each one that differs from the last.
    ///
    /// - Parameters:
    ///   - queue: Where it is called; nil: on a serial queue of this library's own, which all observers share, and which is
    ///     not the main queue. Calls do not overlap, on a concurrent queue either.
    ///   - body: What is called. It is released when the observing ends, at the latest when a call under way does.
    /// - Returns: A token, which has to be kept: it keeps this monitor, and the observing ends with it.
    public func observe(
        on queue: DispatchQueue? = nil, _ body: @escaping @Sendable (ReachabilityPath) -> Void
    ) -> ReachabilityObservation {
        let registration = Registration(Observer(queue ?? observers, body), at: self)
        return ReachabilityObservation { registration.cancel() }
    }

    /// As `observe(on:_:)`, on an executor.
    public func observe(
        on executor: any TaskExecutor, _ body: @escaping @Sendable (ReachabilityPath) -> Void
    ) -> ReachabilityObservation {
        let task = Task(executorPreference: executor) {
            for await path in self {
                // What is over may have been ended on the executor after this path was on its way there.
                if Task.isCancelled || self.isOver { break }
                body(path)
            }
        }
        return ReachabilityObservation { task.cancel() }
    }
}

private let observers = DispatchQueue(label: "reachability.observers")
#endif
