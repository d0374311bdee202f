// SPDX-License-Identifier: MIT

#if os(Linux)
internal import Observation
internal import Synchronization

/// Who is told of a manager's statuses, beside the one block: observers, sequences, the Observation framework.
final class Audience: Sendable {
    private struct State {
        var observers: [(id: UInt64, block: AFNetworkReachabilityManager.StatusBlock)] = []
        var sequences: [UInt64: AsyncStream<AFNetworkReachabilityStatus>.Continuation] = [:]
        var lastID: UInt64 = 0
        var hasEnded = false

        mutating func nextID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    let registrar = ObservationRegistrar()
    private let state = Mutex(State())

    /// Sequences first, then the observers, in the order in which they came. Whether it is over is asked under the lock in
    /// which sequences are told: a later start's status cannot come before this one's.
    func tell(_ status: AFNetworkReachabilityStatus, until isOver: () -> Bool) {
        let observers = state.withLock { state in
            if !isOver() {
                for sequence in state.sequences.values { sequence.yield(status) }
            }
            return state.observers.map(\.id)
        }
        for id in observers where !isOver() {
            // One that was cancelled meanwhile is not called.
            state.withLock { state in state.observers.first { $0.id == id }?.block }?(status)
        }
    }

    func add(_ block: @escaping AFNetworkReachabilityManager.StatusBlock) -> UInt64 {
        state.withLock { state in
            let id = state.nextID()
            state.observers.append((id, block))
            return id
        }
    }

    func remove(_ id: UInt64) {
        // Its block is let go of outside the lock.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
        }
    }

    /// A stream that begins with `current`, read when no status can come in between.
    func stream(current: () -> AFNetworkReachabilityStatus) -> AsyncStream<AFNetworkReachabilityStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AFNetworkReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            continuation.yield(current())
            guard !state.hasEnded else { return nil }
            let id = state.nextID()
            state.sequences[id] = continuation
            return id
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.sequences.removeValue(forKey: id) }
        }
        return stream
    }

    /// The manager has ended: so do the sequences.
    func end() {
        let sequences = state.withLock { state in
            state.hasEnded = true
            defer { state.sequences = [:] }
            return Array(state.sequences.values)
        }
        for sequence in sequences { sequence.finish() }
    }
}
#endif
