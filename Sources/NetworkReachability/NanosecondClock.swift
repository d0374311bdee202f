// SPDX-License-Identifier: MIT

#if os(Linux)
/// A clock that counts nanoseconds from its first use.
struct NanosecondClock: Sendable {
    let now: @Sendable () -> UInt64
    let sleep: @Sendable (UInt64) async throws -> Void

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now).nanoseconds }
        sleep = { time in
            try await clock.sleep(until: start.advanced(by: .nanoseconds(time)), tolerance: nil)
        }
    }
}

extension Duration {
    /// At least 0, and at most a century, because an instant can overflow.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(3_000_000_000)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
#endif
