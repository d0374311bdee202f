// SPDX-License-Identifier: MIT

#if os(Linux)
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

        /// Returns the current path first, then each path that differs from the last one, and nil at the end.
        public mutating func next() async -> ReachabilityPath? {
            await next(isolation: nil)
        }

        /// Like `next()`, but stays on the calling actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityPath? {
            await withTaskCancellationHandler {
                await buffer.next(isolation: actor)
            } onCancel: { [registration] in
                registration.cancel()
            }
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
    /// ``ReachabilityError/Code/timedOut`` or ``ReachabilityError/Code/monitorCancelled``, and with the last path of
    /// the wait.
    @discardableResult
    public func waitUntilReachable(timeout: Duration? = nil) async throws -> ReachabilityPath {
        let now = path
        if now.isReachable { return now }
        let (last, isInTime) = await withTaskGroup(of: ReachabilityPath?.self) { group in
            group.addTask { await self.firstReachable(after: now) }
            if let timeout {
                group.addTask {
                    // At most a century, because the sleep traps at the clock's limit.
                    try? await Task.sleep(for: Swift.min(Swift.max(timeout, .zero), .seconds(3_000_000_000)))
                    return nil
                }
            }
            // The task that ends first cancels the other. After a time-out, the second result is the last path.
            let first = await group.next() ?? nil
            group.cancelAll()
            let second = await group.next() ?? nil
            return (first ?? second ?? now, first != nil)
        }
        if last.isReachable { return last }
        try Task.checkCancellation()
        throw ReachabilityError(isInTime ? .monitorCancelled : .timedOut, seen: last)
    }

    /// Returns the first reachable path. If the sequence ends before that: its last path, or `known` if there was none.
    private func firstReachable(after known: ReachabilityPath) async -> ReachabilityPath {
        var last = known
        for await path in self {
            last = path
            if path.isReachable { break }
        }
        return last
    }
}
#endif
