// SPDX-License-Identifier: MIT

#if os(Linux)
extension NWPathMonitor: AsyncSequence {
    /// A path.
    public typealias Element = NWPath
    /// An iteration does not fail.
    public typealias Failure = Never
    /// What `makeAsyncIterator()` returns.
    public typealias AsyncIterator = Iterator

    /// Keeps its monitor. Needs no `start(queue:)`: while the iterator exists, the kernel is watched. Ends when its task
    /// is cancelled, and at ``NWPathMonitor/cancel()``.
    public struct Iterator: AsyncIteratorProtocol {
        private let registration: Registration

        fileprivate init(_ monitor: NWPathMonitor) {
            registration = Registration(monitor)
        }

        /// Returns the current path first, then each path that differs from the last one, and nil at the end.
        public mutating func next() async -> NWPath? {
            await next(isolation: nil)
        }

        /// Like `next()`, but stays on the calling actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NWPath? {
            await withTaskCancellationHandler {
                await registration.buffer.next(isolation: actor)
            } onCancel: { [registration] in
                registration.end()
            }
        }
    }

    /// Makes an iterator. The kernel is watched from this call on.
    public __consuming func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}

/// The end of an iterator ends its buffer.
private final class Registration: Sendable {
    private let monitor: NWPathMonitor
    let buffer: PathBuffer

    init(_ monitor: NWPathMonitor) {
        self.monitor = monitor
        buffer = monitor.follower.addBuffer()
    }

    deinit {
        end()
    }

    func end() {
        monitor.follower.remove(buffer)
    }
}
#endif
