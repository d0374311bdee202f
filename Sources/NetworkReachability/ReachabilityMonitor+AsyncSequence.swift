// SPDX-License-Identifier: MIT

#if os(Linux)
extension ReachabilityMonitor: AsyncSequence {
    public typealias Element = ReachabilityPath
    public typealias Failure = Never

    /// Keeps its monitor, and the kernel is watched as long as it exists. It ends when its task is cancelled and at
    /// ``ReachabilityMonitor/cancel()``.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let mailbox: Mailbox
        private let registration: Registration

        fileprivate init(_ monitor: ReachabilityMonitor) {
            mailbox = Mailbox()
            registration = Registration(mailbox, at: monitor)
        }

        /// The current path at first, then the next one that differs from the last; nil at the end.
        public mutating func next() async -> ReachabilityPath? {
            await next(isolation: nil)
        }

        /// As `next()`, without a hop from the actor that it is called on.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityPath? {
            await withTaskCancellationHandler {
                await mailbox.next(isolation: actor)
            } onCancel: { [registration] in
                registration.cancel()
            }
        }
    }

    /// From now on the kernel is watched.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }
}

extension ReachabilityMonitor {
    /// Waits until a packet can leave for the target, and answers over which path. Without a time-out it waits for ever.
    ///
    /// Throws `CancellationError` when the task is cancelled, and ``ReachabilityError`` with the code
    /// ``ReachabilityError/Code/timedOut`` or ``ReachabilityError/Code/monitorCancelled``, and with the path that it saw
    /// last.
    @discardableResult
    public func waitUntilReachable(timeout: Duration? = nil) async throws -> ReachabilityPath {
        let now = path
        if now.isReachable { return now }
        let (last, isInTime) = await withTaskGroup(of: ReachabilityPath?.self) { group in
            group.addTask { await self.firstReachable(after: now) }
            if let timeout {
                group.addTask {
                    // A century: where the clock's limit is, this sleep traps.
                    try? await Task.sleep(for: Swift.min(Swift.max(timeout, .zero), .seconds(3_000_000_000)))
                    return nil
                }
            }
            // Whichever ends first ends the other; where that is the time, the path that was seen last comes second.
            let first = await group.next() ?? nil
            group.cancelAll()
            let second = await group.next() ?? nil
            return (first ?? second ?? now, first != nil)
        }
        if last.isReachable { return last }
        try Task.checkCancellation()
        throw ReachabilityError(isInTime ? .monitorCancelled : .timedOut, seen: last)
    }

    /// The first path that is reachable; where the sequence ends before, the last one, or the one that was known before.
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
