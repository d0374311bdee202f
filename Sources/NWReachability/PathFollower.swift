// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// What is behind a monitor: follows a source while the monitor is started or has iterators, calls the handler, and
/// feeds the iterators.
///
/// The source keeps this object while it follows. This object keeps the monitor from `start` to `cancel`, as
/// Network.framework does: a program whose handler or stream keeps no reference to its monitor goes on hearing of changes.
final class PathFollower: NetworkReceiver {
    typealias Handler = @Sendable (NWPath) -> Void

    private struct State {
        var handler: Handler?
        var queue: DispatchQueue?
        var isCancelled = false
        /// From the start to `cancel`.
        var monitor: NWPathMonitor?
        var path = NWPath.unknown
        /// Of the last update.
        var number: UInt64 = 0
        /// Whether `path` is from the source, and all interfaces are known.
        var isWhole = false
        /// The last path that the handler got, or would have got if there was none.
        var delivered: NWPath?
        var isCallQueued = false
        var buffers: [ObjectIdentifier: PathBuffer] = [:]

        var isNeeded: Bool { !isCancelled && (queue != nil || !buffers.isEmpty) }

        /// Returns the queue on which the caller must queue a call.
        mutating func takeCall() -> DispatchQueue? {
            guard let queue, !isCallQueued, !isCancelled, isWhole, path != delivered else { return nil }
            isCallQueued = true
            return queue
        }
    }

    private let requirement: Requirement
    private let source: any NetworkSource
    // The locks, in the order in which a thread takes them. No user's code runs while one is held.

    /// Whether the source sends updates. Held while that changes.
    private let isFollowing = Mutex(false)
    private let state = Mutex(State())

    init(_ source: any NetworkSource, _ requirement: Requirement) {
        self.source = source
        self.requirement = requirement
    }

    var path: NWPath { state.withLock(\.path) }
    var queue: DispatchQueue? { state.withLock(\.queue) }

    var handler: Handler? {
        get { state.withLock(\.handler) }
        set {
            // Released without the lock: it may be the last reference to anything.
            let before = state.withLock { state -> Handler? in
                defer { if !state.isCancelled { state.handler = newValue } }
                return state.handler
            }
            withExtendedLifetime(before) {}
        }
    }

    // MARK: - Starting and ending

    func start(_ monitor: NWPathMonitor, on queue: DispatchQueue) {
        let isStarted = state.withLock { state in
            guard state.queue == nil, !state.isCancelled else { return false }
            state.queue = queue
            state.monitor = monitor
            return true
        }
        guard isStarted else { return }
        followOrStop()
        queueCallIfDue()
    }

    func cancel() {
        // Released without the lock: they may be the last references.
        let (handler, monitor, buffers) = state.withLock { state -> (Handler?, NWPathMonitor?, [PathBuffer]) in
            defer { (state.isCancelled, state.handler, state.monitor, state.buffers) = (true, nil, nil, [:]) }
            return (state.handler, state.monitor, Array(state.buffers.values))
        }
        for buffer in buffers { buffer.close() }
        followOrStop()
        withExtendedLifetime((handler, monitor)) {}
    }

    /// If several threads call this, the last one to take the lock sees all that needs the source.
    private func followOrStop() {
        isFollowing.withLock { isFollowing in
            let isNeeded = state.withLock(\.isNeeded)
            if isNeeded == isFollowing { return }
            isFollowing = isNeeded
            if isNeeded {
                put(source.add(self))
            } else {
                source.remove(self)
            }
        }
    }

    // MARK: - Updates

    func receive(_ update: NetworkUpdate) {
        put(update)
    }

    private func put(_ update: NetworkUpdate) {
        let path = update.path(for: requirement)
        let (queue, buffers) = state.withLock { state -> (DispatchQueue?, [PathBuffer]) in
            guard !state.isCancelled, update.number > state.number else { return (nil, []) }
            state.number = update.number
            state.isWhole = update.isWhole
            state.path = path
            let hasBuffers = update.isWhole && !state.buffers.isEmpty
            return (state.takeCall(), hasBuffers ? Array(state.buffers.values) : [])
        }
        for buffer in buffers { buffer.put(path, number: update.number) }
        if let queue { queueCall(on: queue) }
    }

    // MARK: - The handler

    private func queueCallIfDue() {
        if let queue = state.withLock({ $0.takeCall() }) { queueCall(on: queue) }
    }

    private func queueCall(on queue: DispatchQueue) {
        queue.async { self.callHandler() }
    }

    /// At most one call is queued or runs, so calls do not overlap on a concurrent queue.
    private func callHandler() {
        let (handler, path) = state.withLock { state -> (Handler?, NWPath) in
            guard !state.isCancelled, state.path != state.delivered else { return (nil, state.path) }
            state.delivered = state.path
            return (state.handler, state.path)
        }
        handler?(path)
        let queue = state.withLock { state in
            state.isCallQueued = false
            return state.takeCall()
        }
        // Not a loop here: other work on the queue runs in between.
        if let queue { queueCall(on: queue) }
    }

    // MARK: - Iterators

    /// Returns a buffer that gets the current path, and then each new one, until `remove`.
    func addBuffer() -> PathBuffer {
        let buffer = PathBuffer()
        let isOpen = state.withLock { state in
            guard !state.isCancelled else { return false }
            state.buffers[ObjectIdentifier(buffer)] = buffer
            return true
        }
        guard isOpen else {
            buffer.close()
            return buffer
        }
        followOrStop()
        // It may have got this already.
        let (path, number, isWhole) = state.withLock { ($0.path, $0.number, $0.isWhole) }
        if isWhole { buffer.put(path, number: number) }
        return buffer
    }

    func remove(_ buffer: PathBuffer) {
        let removed = state.withLock { $0.buffers.removeValue(forKey: ObjectIdentifier(buffer)) }
        buffer.close()
        if removed != nil { followOrStop() }
    }
}
#endif
