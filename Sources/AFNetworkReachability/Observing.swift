// SPDX-License-Identifier: MIT

#if os(Linux)
public import Observation

extension AFNetworkReachabilityManager: Observable {
    /// Adds an observer beside the one block. It is called on the delivery queue after the block, for each delivery,
    /// until it is cancelled or let go of. Neither starts nor replays.
    @preconcurrency
    public func addObserver(_ block: @escaping @Sendable (AFNetworkReachabilityStatus) -> Void) -> Observer {
        Observer(audience: audience, id: audience.add(block))
    }

    /// The statuses as a sequence: the current one first, unknown included, then each that is delivered and differs from
    /// the last. Neither starts nor stops.
    public var statuses: Statuses { Statuses(manager: self) }

    /// An observer's registration. Letting go of it cancels it. Does not keep the manager.
    public final class Observer: Sendable {
        private let audience: Audience
        private let id: UInt64

        init(audience: Audience, id: UInt64) {
            self.audience = audience
            self.id = id
        }

        deinit {
            cancel()
        }

        /// On the delivery queue, the observer is not called once this has returned; from elsewhere, at most the call in
        /// flight ends.
        public func cancel() {
            audience.remove(id)
        }
    }

    /// A manager's statuses. Holds the manager weakly, and ends when that does; each iterator is on its own, and keeps
    /// the newest status that was not taken yet.
    public struct Statuses: AsyncSequence, Sendable {
        public typealias Element = AFNetworkReachabilityStatus
        public typealias Failure = Never

        private let manager: WeakManager

        init(manager: AFNetworkReachabilityManager) {
            self.manager = WeakManager(manager)
        }

        public func makeAsyncIterator() -> Iterator {
            let stream = manager.value.map { manager in
                // Read under a lock: not the property that a subclass may override.
                manager.audience.stream { manager.deliveredStatus }
            }
            return Iterator(stream: stream?.makeAsyncIterator())
        }

        public struct Iterator: AsyncIteratorProtocol {
            var stream: AsyncStream<AFNetworkReachabilityStatus>.Iterator?
            private var last: AFNetworkReachabilityStatus?

            init(stream: AsyncStream<AFNetworkReachabilityStatus>.Iterator?) {
                self.stream = stream
            }

            /// nil when the manager has ended, or the task was cancelled.
            public mutating func next() async -> AFNetworkReachabilityStatus? {
                await next(isolation: #isolation)
            }

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

// Unchecked: set once, in the initializer. `weak let`, which needs no such class, is newer than the compilers that this
// package is for.
private final class WeakManager: @unchecked Sendable {
    private(set) weak var value: AFNetworkReachabilityManager?

    init(_ manager: AFNetworkReachabilityManager) {
        value = manager
    }
}
#endif
