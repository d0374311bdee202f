// SPDX-License-Identifier: MIT

#if os(Linux)
/// When changes count as settled: nothing has changed for some time, or they have gone on for ten times as long.
package struct Settling: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let time: Duration
    private var limit: Instant?
    /// When what changed is to be told; nil: nothing is waiting.
    package private(set) var due: Instant?

    package init(time: Duration) {
        // Instants have a limit too.
        self.time = min(time, .seconds(1_000_000))
    }

    /// Whether a change is told at once.
    package var isImmediate: Bool { time <= .zero }

    package mutating func change(at now: Instant) {
        let limit = limit ?? now + time * 10
        self.limit = limit
        due = min(now + time, limit)
    }

    /// All is as it was told, or it has been told.
    package mutating func end() {
        (limit, due) = (nil, nil)
    }
}
#endif
