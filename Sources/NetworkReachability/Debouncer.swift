// SPDX-License-Identifier: MIT

#if os(Linux)
/// Computes when a change is reported: when nothing has changed for the settle time, or after ten times as long.
package struct Debouncer: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let settleTime: Duration
    private var limit: Instant?
    /// When the change must be reported. nil: there is no unreported change.
    package private(set) var due: Instant?

    package init(settleTime: Duration) {
        // A greater duration could overflow an instant.
        self.settleTime = min(settleTime, .seconds(1_000_000))
    }

    /// Whether changes are reported at once.
    package var isImmediate: Bool { settleTime <= .zero }

    package mutating func recordChange(at now: Instant) {
        let limit = limit ?? now + settleTime * 10
        self.limit = limit
        due = min(now + settleTime, limit)
    }

    /// The change is reported, or is undone.
    package mutating func reset() {
        (limit, due) = (nil, nil)
    }
}
#endif
