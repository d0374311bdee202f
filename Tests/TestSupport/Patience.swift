// SPDX-License-Identifier: MIT

package import Testing

/// How long a test waits for what has to come. They all run at once, so each takes as long as the longest, many times
/// longer under a sanitizer on a machine that others use, too: only what hangs is given up.
package enum Patience {
    package static let minutes = 10 * max(1, Repetitions.cycles / 20_000, Repetitions.tries / 10_000)
    /// For calls that hold up a thread.
    package static let seconds = 60 * minutes
}

extension Trait where Self == TimeLimitTrait {
    package static var patient: Self { .timeLimit(.minutes(Patience.minutes)) }
}

/// Waits for what nobody tells of, by looking over and over.
package func waitUntil(_ isSo: () throws -> Bool) async throws {
    while try !isSo() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
