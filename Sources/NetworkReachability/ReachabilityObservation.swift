// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch

/// The token of an observer. The observer ends when this object is cancelled or released.
public final class ReachabilityObservation: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends the observer.
    ///
    /// If you call this on the observer's queue, the observer is not called after it returns. If you call it elsewhere,
    /// a call of the observer that has begun may finish later, and no other begins.
    public func cancel() {
        end()
    }
}

extension ReachabilityMonitor {
    /// Calls `body` with the current path, and then with each path that differs from the last one.
    ///
    /// - Parameters:
    ///   - queue: The queue of the calls. nil: a serial queue of this library, which all observers share. It is not the
    ///     main queue. Calls do not overlap, not even on a concurrent queue.
    ///   - body: The closure to call. It is released when the observer ends, after a call that has begun.
    /// - Returns: A token. Keep the token: when it is released, the observer ends. The token keeps this monitor alive.
    public func observe(
        on queue: DispatchQueue? = nil, _ body: @escaping @Sendable (ReachabilityPath) -> Void
    ) -> ReachabilityObservation {
        let registration = Registration(QueueObserver(queue ?? observerQueue, body), with: self)
        return ReachabilityObservation { registration.cancel() }
    }

    /// Like `observe(on:_:)`, on an executor.
    public func observe(
        on executor: any TaskExecutor, _ body: @escaping @Sendable (ReachabilityPath) -> Void
    ) -> ReachabilityObservation {
        let task = Task(executorPreference: executor) {
            for await path in self {
                // The observer may have been cancelled on the executor after this path was queued there.
                if Task.isCancelled || self.isCancelled { break }
                body(path)
            }
        }
        return ReachabilityObservation { task.cancel() }
    }
}

private let observerQueue = DispatchQueue(label: "reachability.observers")
#endif
