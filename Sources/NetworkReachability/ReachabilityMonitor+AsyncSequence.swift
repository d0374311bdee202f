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
    /// ``ReachabilityError/Code/timedOut`` or ``ReachabilityError/Code/monitorCancelled``.
    @discardableResult
    public func waitUntilReachable(timeout: Duration? = nil) async throws -> ReachabilityPath {
        try await withThrowingTaskGroup(of: ReachabilityPath.self) { group in
            defer { group.cancelAll() }
            let now = path
            if now.isReachable { return now }
            group.addTask {
                for await path in self where path.isReachable { return path }
                try Task.checkCancellation()
                throw ReachabilityError(.monitorCancelled)
            }
            if let timeout {
                group.addTask {
                    // A century: where the clock's limit is, this sleep traps.
                    try await Task.sleep(for: Swift.min(Swift.max(timeout, .zero), .seconds(3_000_000_000)))
                    throw ReachabilityError(.timedOut)
                }
            }
            // There is at least one task: it is not nil.
            return try await group.next() ?? now
        }
    }
}
#endif
