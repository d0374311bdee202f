// SPDX-License-Identifier: MIT

import Synchronization

/// A clock that stands still until a test advances it.
package final class TestClock: Clock {
    package struct Instant: InstantProtocol {
        fileprivate var offset = Duration.zero

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers: [UInt64: (end: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    private let sleeping = Recorder<Void>()

    package init() {}

    package var now: Instant { state.withLock(\.now) }
    package var minimumResolution: Duration { .zero }

    package func sleep(until end: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || end <= state.now { return true }
                    state.sleepers[number] = (end, continuation)
                    return false
                }
                if isOver { continuation.resume() } else { sleeping.record(()) }
            }
            try Task.checkCancellation()
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume()
        }
    }

    /// Waits until one more task sleeps.
    package func waitForSleeper() async { await sleeping.next() }

    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}
