// SPDX-License-Identifier: MIT

#if os(Linux)
public import Observation
internal import Synchronization

extension AFNetworkReachabilityManager: Observable {
    /// Adds an observer beside the one block. Each delivery calls it on the delivery queue, after the block. It ends
    /// when the returned object is cancelled or released. This does not start monitoring, and does not call the
    /// observer with an earlier status.
    @preconcurrency
    public func addObserver(_ block: @escaping @Sendable (AFNetworkReachabilityStatus) -> Void) -> Observer {
        Observer(registry: observerRegistry, id: observerRegistry.addObserver(block))
    }

    /// The statuses as a sequence: first the current status, even if it is unknown, then each delivered status that
    /// differs from the last. This does not start or stop monitoring.
    public var statuses: Statuses { Statuses(manager: self) }

    /// The registration of an observer. It ends when this object is cancelled or released. It does not keep the manager
    /// alive.
    public final class Observer: Sendable {
        private let registry: ObserverRegistry
        private let id: UInt64

        init(registry: ObserverRegistry, id: UInt64) {
            self.registry = registry
            self.id = id
        }

        deinit {
            cancel()
        }

        /// Ends the observer.
        ///
        /// If you call this on the delivery queue, the observer is not called after it returns. If you call it
        /// elsewhere, a call of the observer that has begun may finish later, and no other begins.
        public func cancel() {
            registry.removeObserver(id)
        }
    }

    /// The statuses of a manager. The sequence holds the manager weakly, and ends when the manager ends. Iterators are
    /// independent. A slow iterator gets only the newest status.
    public struct Statuses: AsyncSequence, Sendable {
        /// A status.
        public typealias Element = AFNetworkReachabilityStatus
        /// An iteration does not fail.
        public typealias Failure = Never

        private let manager: WeakManager

        init(manager: AFNetworkReachabilityManager) {
            self.manager = WeakManager(manager)
        }

        /// Makes an iterator, which begins with the current status.
        public func makeAsyncIterator() -> Iterator {
            let stream = manager.value.map { manager in
                // Read under a lock, so not the property that a subclass may override.
                manager.observerRegistry.makeStream { manager.deliveredStatus }
            }
            return Iterator(stream: stream?.makeAsyncIterator())
        }

        /// Gets the current status first, and then each that differs from the last one.
        public struct Iterator: AsyncIteratorProtocol {
            var stream: AsyncStream<AFNetworkReachabilityStatus>.Iterator?
            private var last: AFNetworkReachabilityStatus?

            init(stream: AsyncStream<AFNetworkReachabilityStatus>.Iterator?) {
                self.stream = stream
            }

            /// Returns nil when the manager has ended or the task is cancelled.
            public mutating func next() async -> AFNetworkReachabilityStatus? {
                await next(isolation: #isolation)
            }

            /// Returns the next status, and nil when the manager has ended.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async -> AFNetworkReachabilityStatus? {
                while let status = await stream?.next(isolation: actor) {
                    if status == last { continue }
                    last = status
                    return status
                }
                return nil
            }
        }
    }
}

// Unchecked Sendable: no lock is needed, because `value` is set only in the initializer, and the runtime makes reading
// a weak reference safe. `weak let` would need no such class, but older compilers that this package supports lack it.
private final class WeakManager: @unchecked Sendable {
    private(set) weak var value: AFNetworkReachabilityManager?

    init(_ manager: AFNetworkReachabilityManager) {
        value = manager
    }
}

/// The observers of a manager beside its one block: closures, sequences, and the Observation framework.
package final class ObserverRegistry: Sendable {
    private struct State {
        var observers: [(id: UInt64, block: AFNetworkReachabilityManager.StatusBlock)] = []
        var sequences: [UInt64: AsyncStream<AFNetworkReachabilityStatus>.Continuation] = [:]
        var lastID: UInt64 = 0
        var hasEnded = false

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    let registrar = ObservationRegistrar()
    // The locks, in the order in which a thread takes them.

    /// Held while sequences are notified, so that all of them get the statuses in the same order.
    private let isNotifying = Mutex(())
    /// Never held while a sequence is notified. A task's cancellation takes this lock while it holds a lock of the
    /// task, and the notification of a waiting task takes that lock: in the other order, both would wait for ever.
    private let state = Mutex(State())

    package init() {}

    /// Notifies the sequences, then the observers in the order in which they were added.
    ///
    /// `hasEnded` is checked in the lock in which sequences are added. So a sequence cannot get this status after one of
    /// a later start.
    package func notify(_ status: AFNetworkReachabilityStatus, unless hasEnded: () -> Bool) {
        isNotifying.withLock { _ in
            let sequences = state.withLock { hasEnded() ? [] : Array($0.sequences.values) }
            for sequence in sequences { sequence.yield(status) }
        }
        let observers = state.withLock { $0.observers.map(\.id) }
        for id in observers where !hasEnded() {
            // Looked up again: an earlier observer may have removed this one.
            state.withLock { state in state.observers.first { $0.id == id }?.block }?(status)
        }
    }

    func addObserver(_ block: @escaping AFNetworkReachabilityManager.StatusBlock) -> UInt64 {
        state.withLock { state in
            let id = state.nextID()
            state.observers.append((id, block))
            return id
        }
    }

    func removeObserver(_ id: UInt64) {
        // The block is released after the lock.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
        }
    }

    /// Returns a stream that begins with `current`. That is read under the lock, so no status is lost in between.
    package func makeStream(current: () -> AFNetworkReachabilityStatus) -> AsyncStream<AFNetworkReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AFNetworkReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            continuation.yield(current())
            guard !state.hasEnded else { return nil }
            let id = state.nextID()
            state.sequences[id] = continuation
            return id
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.sequences.removeValue(forKey: id) }
        }
        return stream
    }

    /// Ends all sequences, as the manager ends.
    func end() {
        let sequences = state.withLock { state in
            state.hasEnded = true
            defer { state.sequences = [:] }
            return Array(state.sequences.values)
        }
        for sequence in sequences { sequence.finish() }
    }
}
#endif
