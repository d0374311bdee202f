// SPDX-License-Identifier: MIT

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
