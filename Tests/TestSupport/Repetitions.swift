// SPDX-License-Identifier: MIT

internal import Glibc

/// The repetitions of the longest tests. The environment sets fewer under a sanitizer.
package enum Repetitions {
    /// For tests that start, stop and release managers.
    package static let cycles = count("REACHABILITY_CYCLES") ?? 20_000
    /// For races that may fail once in thousands of times.
    package static let tries = count("REACHABILITY_TRIES") ?? 10_000

    private static func count(_ variable: String) -> Int? {
        getenv(variable).flatMap { Int(String(cString: $0)) }
    }
}
