// SPDX-License-Identifier: MIT

#if os(Linux)
package import SCReachability
internal import Synchronization

/// One start of a manager, until its stop. Turns flags into statuses, and delivers each status that differs from the
/// last one on the manager's queue.
package final class DeliverySession<Status: Equatable & Sendable>: FlagsReceiver {
    private let queue: DispatchQueue
    private let status: @Sendable (SCNetworkReachabilityFlags) -> Status
    private let deliver: @Sendable (Status, DeliverySession) -> Void
    private let last = Mutex<Status?>(nil)
    private let isEnded = Atomic(false)

    /// - Parameters:
    ///   - queue: The queue of the deliveries. They do not overlap, not even on a concurrent queue.
    ///   - deliver: Delivers a status. It must check `hasEnded` before each user's closure that it calls.
    package init(
        queue: DispatchQueue,
        status: @escaping @Sendable (SCNetworkReachabilityFlags) -> Status,
        deliver: @escaping @Sendable (Status, DeliverySession) -> Void
    ) {
        // A serial queue in between costs nothing that can be measured.
        self.queue = DispatchQueue(label: "deliveries", target: queue)
        self.status = status
        self.deliver = deliver
    }

    package var hasEnded: Bool { isEnded.load(ordering: .sequentiallyConsistent) }

    /// Drops the deliveries that are queued, too.
    package func end() {
        isEnded.store(true, ordering: .sequentiallyConsistent)
    }

    package func receive(_ flags: SCNetworkReachabilityFlags) {
        guard !hasEnded else { return }
        let status = status(flags)
        let isNew = last.withLock { last in
            defer { last = status }
            return last != status
        }
        guard isNew else { return }
        queue.async { if !self.hasEnded { self.deliver(status, self) } }
    }
}
#endif
