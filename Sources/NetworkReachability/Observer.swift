// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// Calls a closure on a queue, with the newest path: one call at a time, also where the queue is a concurrent one.
final class Observer: Listener {
    private struct State {
        var inbox = Inbox()
        var isUnderWay = false
        var isClosed = false

        mutating func beginsCall() -> Bool {
            if isUnderWay || isClosed || inbox.isEmpty { return false }
            isUnderWay = true
            return true
        }
    }

    private let queue: DispatchQueue
    private let body: @Sendable (ReachabilityPath) -> Void
    private let state = Mutex(State())

    init(_ queue: DispatchQueue, _ body: @escaping @Sendable (ReachabilityPath) -> Void) {
        self.queue = queue
        self.body = body
    }

    func receive(_ update: Update) {
        let isIdle = state.withLock { state in
            state.inbox.put(update)
            return state.beginsCall()
        }
        if isIdle { queue.async { self.call() } }
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    private func call() {
        if let path = state.withLock({ $0.isClosed ? nil : $0.inbox.take() }) { body(path) }
        let isDue = state.withLock { state in
            state.isUnderWay = false
            return state.beginsCall()
        }
        // Whatever else waits on the queue has its turn first.
        if isDue { queue.async { self.call() } }
    }
}
#endif
