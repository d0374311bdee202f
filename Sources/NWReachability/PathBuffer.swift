// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// The buffer of one iterator: the newest path that `next()` has not returned, or the task that waits in `next()`.
// NetworkReachability's IteratorBuffer is much the same. One generic class in a shared module, even an inlinable one,
// makes the hop from a callback to the element an eighth slower.
final class PathBuffer: Sendable {
    private typealias Waiter = UnsafeContinuation<NWPath?, Never>

    private struct State {
        var newest: NWPath?
        var taken: NWPath?
        var number: UInt64 = 0
        var waiter: Waiter?
        var isClosed = false

        mutating func take() -> NWPath? {
            guard let path = newest else { return nil }
            (newest, taken) = (nil, path)
            return path
        }
    }

    private let state = Mutex(State())

    /// Updates may arrive out of order, as the threads that bring them hold no lock.
    func put(_ path: NWPath, number: UInt64) {
        let (waiter, path) = state.withLock { state -> (Waiter?, NWPath?) in
            guard number > state.number else { return (nil, nil) }
            state.number = number
            state.newest = path == state.taken ? nil : path
            guard let waiter = state.waiter, let path = state.take() else { return (nil, nil) }
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
    func next(isolation: isolated (any Actor)?) async -> NWPath? {
        await withUnsafeContinuation(isolation: isolation) { waiter in
            let (resumed, path) = state.withLock { state -> (Waiter?, NWPath?) in
                if state.isClosed { return (waiter, nil) }
                if let path = state.take() { return (waiter, path) }
                // An iterator is for one task. If two tasks use it, the first one gets nil.
                defer { state.waiter = waiter }
                return (state.waiter, nil)
            }
            resumed?.resume(returning: path)
        }
    }
}
#endif
