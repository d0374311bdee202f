// SPDX-License-Identifier: MIT

#if os(Linux)
internal import Observation
internal import Synchronization

/// The observers of a manager beside its one block: closures, sequences, and the Observation framework.
package final class ObserverRegistry: Sendable {
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
    // The locks, in the order in which a thread takes them.

    /// Held while sequences are notified, so that all of them get the statuses in the same order.
    private let isNotifying = Mutex(())
    /// Never held while a sequence is notified. A task's cancellation takes this lock while it holds a lock of the
    /// task, and the notification of a waiting task takes that lock: in the other order, both would wait for ever.
    private let state = Mutex(State())

    package init() {}

    /// Notifies the sequences, then the observers in the order in which they were added.
    ///
    /// `hasEnded` is checked in the lock in which sequences are added. So a sequence cannot get this status after one of
    /// a later start.
    package func notify(_ status: AFNetworkReachabilityStatus, unless hasEnded: () -> Bool) {
        isNotifying.withLock { _ in
            let sequences = state.withLock { hasEnded() ? [] : Array($0.sequences.values) }
            for sequence in sequences { sequence.yield(status) }
        }
        let observers = state.withLock { $0.observers.map(\.id) }
        for id in observers where !hasEnded() {
            // Looked up again: an earlier observer may have removed this one.
            state.withLock { state in state.observers.first { $0.id == id }?.block }?(status)
        }
    }

    func addObserver(_ block: @escaping AFNetworkReachabilityManager.StatusBlock) -> UInt64 {
        state.withLock { state in
            let id = state.nextID()
            state.observers.append((id, block))
            return id
        }
    }

    func removeObserver(_ id: UInt64) {
        // The block is released after the lock.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
        }
    }

    /// Returns a stream that begins with `current`. That is read under the lock, so no status is lost in between.
    package func makeStream(current: () -> AFNetworkReachabilityStatus) -> AsyncStream<AFNetworkReachabilityStatus> {
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

    /// Ends all sequences, as the manager ends.
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
