// SPDX-License-Identifier: MIT

import Glibc

/// A time in the local time zone.
struct LocalTime {
    private let parts: tm
    private let milliseconds: Int

    static var now: LocalTime { now(localtime_r) }

    private static func now(
        _ split: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
    ) -> LocalTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        var parts = tm()
        _ = split(&time.tv_sec, &parts)
        return LocalTime(parts: parts, milliseconds: time.tv_nsec / 1_000_000)
    }

    /// The time in UTC: 2026-11-22T08:05:01.007Z.
    static var universalText: String {
        let now = now(gmtime_r)
        return "\(now.date)T\(now.timeOfDay)Z"
    }

    /// 09:05:01
    var seconds: String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), to: 2) }.joined(separator: ":")
    }

    /// 09:05:01.007
    var timeOfDay: String { "\(seconds).\(padded(milliseconds, to: 3))" }

    private var date: String {
        [(parts.tm_year + 1900, 4), (parts.tm_mon + 1, 2), (parts.tm_mday, 2)].map { padded(Int($0), to: $1) }
            .joined(separator: "-")
    }

    /// 2026-11-22T09:05:01.007+01:00, the form of RFC 3339.
    var text: String {
        let minutes = abs(parts.tm_gmtoff) / 60
        let zone = "\(parts.tm_gmtoff < 0 ? "-" : "+")\(padded(minutes / 60, to: 2)):\(padded(minutes % 60, to: 2))"
        return "\(date)T\(timeOfDay)\(zone)"
    }
}

/// A number with leading zeros.
func padded(_ number: Int, to width: Int, radix: Int = 10) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
}

/// 0:00:07, or 2d 3:04:05 after a day.
func clockText(_ duration: Duration) -> String {
    let seconds = Int(duration.components.seconds)
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86400)
    let clock = "\(rest / 3600):\(padded(rest / 60 % 60, to: 2)):\(padded(rest % 60, to: 2))"
    return days > 0 ? "\(days)d \(clock)" : clock
}

extension Duration {
    /// Seconds, with milliseconds.
    var secondsText: String {
        let (seconds, attoseconds) = components
        return "\(seconds).\(padded(Int(attoseconds / 1_000_000_000_000_000), to: 3))"
    }
}
