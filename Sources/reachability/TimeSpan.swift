// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser

/// A duration as people write it: seconds with a fraction (`0.5`), or numbers with units (`500ms`, `1m30s`, `2h`).
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration

    private static let units: [String: Double] = ["ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400]

    init?(argument: String) {
        guard let seconds = Double(argument) ?? TimeSpan.sum(argument), seconds >= 0, seconds.isFinite else {
            return nil
        }
        // At most a thousand years, so that no clock overflows.
        duration = .seconds(min(seconds, 3e10))
    }

    init(seconds: Int) {
        duration = .seconds(seconds)
    }

    var defaultValueDescription: String { "\(duration.components.seconds)" }

    var fromNow: ContinuousClock.Instant { .now + duration }

    private static func sum(_ text: String) -> Double? {
        var (sum, rest) = (0.0, text[...])
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest.removeFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest.removeFirst(unit.count)
            guard let number = Double(digits), let factor = units[String(unit)] else { return nil }
            sum += number * factor
        } while !rest.isEmpty
        return sum
    }
}
#endif
