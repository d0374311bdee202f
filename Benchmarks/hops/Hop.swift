// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import Synchronization

/// A way from one thread to another that can be taken again and again.
struct Hop: Sendable {
    /// Called on the main thread: something has happened.
    let send: @Sendable () -> Void
    /// Called when nothing will be sent any more.
    let end: @Sendable () -> Void
}

/// The other end of a hop. It is told of each arrival where that happens.
final class Arrival: Sendable {
    private let time = Atomic<UInt64>(0)
    private let hasArrived = DispatchSemaphore(value: 0)

    func record() {
        time.store(now(), ordering: .relaxed)
        hasArrived.signal()
    }

    /// Nanoseconds from `send` to the arrival.
    func time(of send: () -> Void) -> Double {
        let start = now()
        send()
        hasArrived.wait()
        return Double(time.load(ordering: .relaxed) - start)
    }

    /// The arrival of what comes without being sent: the current value.
    func wait() {
        hasArrived.wait()
    }
}

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
}
