// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// What waits for one iterator, or the iterator that waits for it.
final class Mailbox: Listener {
    private typealias Reader = UnsafeContinuation<ReachabilityPath?, Never>

    private struct State {
        var inbox = Inbox()
        var reader: Reader?
        var isClosed = false
    }

    private let state = Mutex(State())

    func receive(_ update: Update) {
        let (reader, path) = state.withLock { state -> (Reader?, ReachabilityPath?) in
            state.inbox.put(update)
            guard let reader = state.reader, let path = state.inbox.take() else { return (nil, nil) }
            state.reader = nil
            return (reader, path)
        }
        reader?.resume(returning: path)
    }

    func close() {
        let reader = state.withLock { state in
            defer { state.reader = nil }
            state.isClosed = true
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    /// The next path, waited for if need be; nil from the time when this was closed.
    func next(isolation: isolated (any Actor)?) async -> ReachabilityPath? {
        await withUnsafeContinuation(isolation: isolation) { reader in
            let (answered, path) = state.withLock { state -> (Reader?, ReachabilityPath?) in
                if state.isClosed { return (reader, nil) }
                if let path = state.inbox.take() { return (reader, path) }
                // One task reads. Should there be two, the first one's wait ends.
                defer { state.reader = reader }
                return (state.reader, nil)
            }
            answered?.resume(returning: path)
        }
    }
}
#endif
