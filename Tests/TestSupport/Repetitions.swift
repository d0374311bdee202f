// SPDX-License-Identifier: MIT

internal import Glibc

/// How often the longest tests do what they do: fewer times under a sanitizer, more often by hand.
package enum Repetitions {
    /// Of starting, stopping and letting go.
    package static let cycles = count("REACHABILITY_CYCLES") ?? 20_000
    /// Of what may go wrong once in thousands of times.
    package static let tries = count("REACHABILITY_TRIES") ?? 10_000

    private static func count(_ variable: String) -> Int? {
        getenv(variable).flatMap { Int(String(cString: $0)) }
    }
}
