// SPDX-License-Identifier: MIT

#if os(Linux)
package import SCReachability
internal import Synchronization

/// One start of a manager, to its stop: makes statuses of flags, and takes each that differs from the one before to the
/// queue where the manager delivers.
package final class Feed<Status: Equatable & Sendable>: FlagsReceiver {
    private let queue: DispatchQueue
    private let status: @Sendable (SCNetworkReachabilityFlags) -> Status
    private let deliver: @Sendable (Status, Feed) -> Void
    private let last = Mutex<Status?>(nil)
    private let isEnded = Atomic(false)

    /// `queue`: any; deliveries do not overlap on a concurrent one either. `deliver` asks `isOver` before each thing
    /// that it does.
    package init(
        queue: DispatchQueue,
        status: @escaping @Sendable (SCNetworkReachabilityFlags) -> Status,
        deliver: @escaping @Sendable (Status, Feed) -> Void
    ) {
        // Measured: no slower than the queue itself.
        self.queue = DispatchQueue(label: "deliveries", target: queue)
        self.status = status
        self.deliver = deliver
    }

    package var isOver: Bool { isEnded.load(ordering: .sequentiallyConsistent) }

    /// What is on its way to the queue is dropped, too.
    package func end() {
        isEnded.store(true, ordering: .sequentiallyConsistent)
    }

    package func receive(_ flags: SCNetworkReachabilityFlags) {
        guard !isOver else { return }
        let status = status(flags)
        let isNew = last.withLock { last in
            defer { last = status }
            return last != status
        }
        guard isNew else { return }
        queue.async { if !self.isOver { self.deliver(status, self) } }
    }
}
#endif
