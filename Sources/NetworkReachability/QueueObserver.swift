// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// Calls a closure with the newest path on a dispatch queue. Calls do not overlap, not even on a concurrent queue.
final class QueueObserver: PathReceiver {
    private struct State {
        var undelivered = UndeliveredPath()
        var isCallQueued = false
        var isClosed = false

        /// Whether the caller must queue a call.
        mutating func needsCall() -> Bool {
            if isCallQueued || isClosed || undelivered.isEmpty { return false }
            isCallQueued = true
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

    func receive(_ update: PathUpdate) {
        let needsCall = state.withLock { state in
            state.undelivered.put(update)
            return state.needsCall()
        }
        if needsCall { queue.async { self.callBody() } }
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    private func callBody() {
        if let path = state.withLock({ $0.isClosed ? nil : $0.undelivered.take() }) { body(path) }
        let needsCall = state.withLock { state in
            state.isCallQueued = false
            return state.needsCall()
        }
        // Not a loop here: other work on the queue runs in between.
        if needsCall { queue.async { self.callBody() } }
    }
}
#endif
