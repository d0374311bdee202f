// SPDX-License-Identifier: MIT

internal import Glibc

package enum Environment {
    /// How often a test is to do what it does: as a variable says, for long runs by hand.
    package static func count(_ variable: String, or count: Int) -> Int {
        getenv(variable).flatMap { Int(String(cString: $0)) } ?? count
    }
}
