// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// The buffer of one iterator: the newest path that `next()` has not returned, or the task that waits in `next()`.
final class IteratorBuffer: PathReceiver {
    private typealias Waiter = UnsafeContinuation<ReachabilityPath?, Never>

    private struct State {
        var undelivered = UndeliveredPath()
        var waiter: Waiter?
        var isClosed = false
    }

    private let state = Mutex(State())

    func receive(_ update: PathUpdate) {
        let (waiter, path) = state.withLock { state -> (Waiter?, ReachabilityPath?) in
            state.undelivered.put(update)
            guard let waiter = state.waiter, let path = state.undelivered.take() else { return (nil, nil) }
            state.waiter = nil
            return (waiter, path)
        }
        waiter?.resume(returning: path)
    }

    func close() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isClosed = true
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    /// Returns the next path, and waits if there is none. Returns nil once the buffer is closed.
    func next(isolation: isolated (any Actor)?) async -> ReachabilityPath? {
        await withUnsafeContinuation(isolation: isolation) { waiter in
            let (resumed, path) = state.withLock { state -> (Waiter?, ReachabilityPath?) in
                if state.isClosed { return (waiter, nil) }
                if let path = state.undelivered.take() { return (waiter, path) }
                // An iterator is for one task. If two tasks use it, the first one gets nil.
                defer { state.waiter = waiter }
                return (state.waiter, nil)
            }
            resumed?.resume(returning: path)
        }
    }
}
#endif
