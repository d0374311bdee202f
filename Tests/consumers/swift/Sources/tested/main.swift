// Tests of a loop that reconnects, with a script instead of a network, and a clock that never waits.

import NetworkReachability
import Synchronization

/// The code under test. Returns after how many attempts it is connected.
func connect(_ timer: ReachabilityRetryTimer, _ attempt: (Int) -> Bool) async throws -> Int {
    var (attempts, pause) = (1, Duration.seconds(1))
    while !attempt(attempts) {
        pause = try await timer.sleep(for: pause) == .time ? min(pause * 2, .seconds(120)) : .seconds(1)
        attempts += 1
    }
    return attempts
}

/// A sleep only moves the time.
final class QuickClock: Clock {
    private let start = ContinuousClock.now
    private let slept = Mutex(Duration.zero)
    var now: ContinuousClock.Instant { start + slept.withLock { $0 } }
    var minimumResolution: Duration { .zero }

    func sleep(until end: ContinuousClock.Instant, tolerance: Duration?) {
        slept.withLock { $0 = max($0, end - start) }
    }
}

let script = ReachabilityScript(.unreachable(.noCarrier))
let (clock, monitor) = (QuickClock(), ReachabilityMonitor(script: script))
let start = clock.now
let timer = ReachabilityRetryTimer(monitor, clock: clock)
// The pauses double: 1, 2 and 4 seconds.
guard try await connect(timer, { $0 == 4 }) == 4, clock.now - start == .seconds(7) else { fatalError("pauses") }
// The network comes back during an attempt: the next one does not wait.
let again = try await connect(timer) { attempt in
    script.play(.reachable)
    return attempt == 2
}
guard again == 2, clock.now - start == .seconds(7) else { fatalError("a pause after a change") }
