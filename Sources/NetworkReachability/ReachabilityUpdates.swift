// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch
public import Observation
import Synchronization

extension ReachabilityMonitor: AsyncSequence {
    /// A path.
    public typealias Element = ReachabilityPath
    /// An iteration does not fail.
    public typealias Failure = Never

    /// Keeps its monitor alive. While the iterator exists, the kernel is watched. The iterator ends when its task is
    /// cancelled, and at ``ReachabilityMonitor/cancel()``.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let buffer: IteratorBuffer
        private let registration: Registration

        fileprivate init(_ monitor: ReachabilityMonitor) {
            buffer = IteratorBuffer()
            registration = Registration(buffer, with: monitor)
        }

        /// Returns the current path first, then each path that differs from the last one, and nil at the end. Stays on the
        /// calling actor.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ReachabilityPath? {
            await withTaskCancellationHandler {
                await buffer.next(isolation: actor)
            } onCancel: { [registration] in
                registration.cancel()
            }
        }

        /// What the protocol needs for callers without an actor. A call of `next()` takes the other function.
        @_disfavoredOverload
        public mutating func next() async -> ReachabilityPath? {
            await next(isolation: nil)
        }
    }

    /// Makes an iterator. The kernel is watched from this call on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }
}

extension ReachabilityMonitor {
    /// Waits until a packet can leave for the target, and returns its path. Without a time-out it waits for ever.
    ///
    /// Throws `CancellationError` if the task is cancelled. Otherwise throws ``ReachabilityError`` with the code
    /// ``ReachabilityError/Code/timedOut`` or ``ReachabilityError/Code/cancelled``, and with the last path of the wait.
    @discardableResult
    public func waitUntilReachable(
        timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) async throws -> ReachabilityPath {
        try await wait(timeout, clock) { $0.isReachable }
    }

    /// Waits until the name of a host is looked up, and returns the path, reachable or not. Any other target is known at
    /// once. Throws as ``waitUntilReachable(timeout:clock:)`` does.
    public func knownPath(
        timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) async throws -> ReachabilityPath {
        try await wait(timeout, clock) { $0.reason != .namePending }
    }

    /// Waits until the path differs from this one, or from the current one, and returns it. A loop that passes what it got
    /// last loses no change. A name that is pending is no change. Throws as ``waitUntilReachable(timeout:clock:)`` does.
    public func nextChange(
        after path: ReachabilityPath? = nil, timeout: Duration? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) async throws -> ReachabilityPath {
        let before = path ?? self.path
        // Between two calls nothing may watch, and then a name is pending.
        return try await wait(timeout, clock) { $0 != before && $0.reason != .namePending }
    }

    /// Returns at once if the path is as wanted.
    private func wait(
        _ timeout: Duration?, _ clock: some Clock<Duration>,
        until isWanted: @escaping @Sendable (ReachabilityPath) -> Bool
    ) async throws -> ReachabilityPath {
        let now = path
        if isWanted(now) { return now }
        let (last, isInTime) = await withTaskGroup(of: ReachabilityPath?.self) { group in
            group.addTask {
                var last = now
                for await path in self {
                    last = path
                    if isWanted(path) { break }
                }
                return last
            }
            if let timeout {
                group.addTask {
                    // At most a century, because the sleep traps at the clock's limit.
                    try? await clock.sleep(for: Swift.min(Swift.max(timeout, .zero), .seconds(3_000_000_000)))
                    return nil
                }
            }
            // The task that ends first cancels the other. After a time-out, the second result is the last path.
            let first = await group.next() ?? nil
            group.cancelAll()
            let second = await group.next() ?? nil
            return (first ?? second ?? now, first != nil)
        }
        if isWanted(last) { return last }
        try Task.checkCancellation()
        throw ReachabilityError(isInTime ? .cancelled : .timedOut, path: last)
    }
}

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

/// A monitor's path for the Observation framework. The kernel is watched while this object lives.
///
/// ```swift
/// let model = ReachabilityModel(ReachabilityMonitor(), on: .main)
/// withObservationTracking { show(model.path) } onChange: { ... }
/// ```
///
/// The path changes only on the queue passed to `init`, so code that reads it on that queue misses no change. Pass the
/// main queue if the main actor reads the path.
public final class ReachabilityModel: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let current: Mutex<ReachabilityPath>
    private let observation = Mutex<ReachabilityObservation?>(nil)

    /// - Parameters:
    ///   - monitor: The monitor of the path. The model keeps it alive.
    ///   - queue: A serial queue. The path changes and observers are notified on it. nil: a queue of this library.
    public init(_ monitor: ReachabilityMonitor, on queue: DispatchQueue? = nil) {
        current = Mutex(monitor.path)
        let observation = monitor.observe(on: queue) { [weak self] path in self?.change(to: path) }
        self.observation.withLock { $0 = observation }
    }

    /// The latest path. Views that read it follow it.
    public var path: ReachabilityPath {
        registrar.access(self, keyPath: \.path)
        return current.withLock { $0 }
    }

    private func change(to path: ReachabilityPath) {
        guard current.withLock({ $0 != path }) else { return }
        registrar.withMutation(of: self, keyPath: \.path) {
            current.withLock { $0 = path }
        }
    }
}
#endif
