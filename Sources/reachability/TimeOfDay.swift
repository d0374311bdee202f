// SPDX-License-Identifier: MIT

import Glibc

/// A time of day, in the local time zone.
struct TimeOfDay {
    private let parts: tm
    private let milliseconds: Int

    static var now: TimeOfDay {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var parts = tm()
        localtime_r(&time.tv_sec, &parts)
        return TimeOfDay(parts: parts, milliseconds: time.tv_nsec / 1_000_000)
    }

    /// 09:05:01
    var seconds: String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), to: 2) }.joined(separator: ":")
    }

    /// 09:05:01.007
    var text: String { "\(seconds).\(padded(milliseconds, to: 3))" }
}

/// A number with leading zeros.
func padded(_ number: Int, to width: Int, radix: Int = 10) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
}
