// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import Synchronization

/// A way from one thread to another, for any number of events.
struct Hop: Sendable {
    /// Starts one event. Called on the main thread.
    let send: @Sendable () -> Void
    /// Called after the last event.
    let end: @Sendable () -> Void
}

/// The other end of a hop.
final class Arrival: Sendable {
    private let time = Atomic<UInt64>(0)
    private let hasArrived = DispatchSemaphore(value: 0)

    /// Called by the thread where the event arrives.
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

    /// Waits for the first path, which nobody sends.
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
