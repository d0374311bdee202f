// SPDX-License-Identifier: MIT

package import Testing

/// The time limit of a test. It is long: only a test that hangs reaches it. All tests run at the same time, so each
/// takes as long as the longest, and longer under a sanitizer or on a busy machine.
package enum TimeLimit {
    package static let minutes = 10 * max(1, Repetitions.cycles / 20_000, Repetitions.tries / 10_000)
    /// The same, for calls that block a thread.
    package static let seconds = 60 * minutes
}

extension Trait where Self == TimeLimitTrait {
    package static var limited: Self { .timeLimit(.minutes(TimeLimit.minutes)) }
}

/// Polls a condition that has no event to wait for.
package func waitUntil(_ condition: () throws -> Bool) async throws {
    while try !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
