// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// Receives the paths of a monitor: for one iterator, or for one observer.
protocol PathReceiver: AnyObject, Sendable {
    func receive(_ update: PathUpdate)
    /// The monitor sends nothing more.
    func close()
}

/// A path that a monitor sends to its receivers. A later update has a greater number.
struct PathUpdate: Sendable {
    var path: ReachabilityPath
    var number: UInt64
}

/// The newest path that one receiver has not taken. Empty if that path equals the last one taken.
struct UndeliveredPath {
    private var newest: ReachabilityPath?
    private var taken: ReachabilityPath?
    private var number: UInt64 = 0

    /// Updates may arrive out of order, as the threads that bring them hold no lock.
    mutating func put(_ update: PathUpdate) {
        guard update.number > number else { return }
        number = update.number
        newest = update.path == taken ? nil : update.path
    }

    var isEmpty: Bool { newest == nil }

    mutating func take() -> ReachabilityPath? {
        guard let path = newest else { return nil }
        (newest, taken) = (nil, path)
        return path
    }
}

/// A receiver's registration with a monitor. It ends with this object, or at `cancel()`.
///
/// The registration keeps the monitor, and the monitor keeps the receiver. The receiver is released when the
/// registration or the monitor's sending ends.
final class Registration: Sendable {
    private let entry: Mutex<(monitor: ReachabilityMonitor, number: UInt64)?>

    init(_ receiver: any PathReceiver, with monitor: ReachabilityMonitor) {
        entry = Mutex((monitor, monitor.addReceiver(receiver)))
    }

    deinit {
        cancel()
    }

    func cancel() {
        let entry = entry.withLock { entry in
            defer { entry = nil }
            return entry
        }
        if let entry { entry.monitor.removeReceiver(entry.number) }
    }
}

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
