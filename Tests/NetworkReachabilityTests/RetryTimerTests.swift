// SPDX-License-Identifier: MIT

import NetworkReachability
import Synchronization
import TestSupport
import Testing

@Suite("The sleep of a loop that connects again and again", .limited)
struct RetryTimerTests {
    private let long = Duration.seconds(600)
    private let script = ReachabilityScript(.over("a"))

    private func timer(jitter: Duration = .zero, minimumInterval: Duration = .seconds(1)) -> ReachabilityRetryTimer {
        ReachabilityRetryTimer(
            ReachabilityMonitor(script: script), jitter: jitter, minimumInterval: minimumInterval)
    }

    private func otherWay() -> ReachabilityPath {
        ReachabilityPath(flags: .reachable, interface: .init(name: "b", index: 2, type: .other))
    }

    @Test("The time ends the sleep of a target that does not change, reachable or not")
    func time() async throws {
        let (timer, start) = (timer(), ContinuousClock.now)
        #expect(try await timer.sleep(for: .milliseconds(20)) == .time)
        script.play(.unreachable(.noCarrier))
        #expect(try await timer.sleep(for: .milliseconds(20)) == .time)
        #expect(ContinuousClock.now - start >= .milliseconds(40))
        #expect(try await timer.sleep(for: .seconds(-1)) == .time)
    }

    @Test("A target that becomes reachable, and another interface, end the sleep")
    func changes() async throws {
        let timer = timer(minimumInterval: .zero)
        script.play(.unreachable(.noCarrier))
        #expect(try await timer.sleep(for: .milliseconds(1)) == .time)
        async let first = timer.sleep(for: long)
        script.play(.over("a"))
        #expect(try await first == .reachable)
        async let second = timer.sleep(for: long)
        script.play(otherWay())
        #expect(try await second == .path)
    }

    @Test("A change during the attempt ends the next sleep")
    func duringTheAttempt() async throws {
        let timer = timer()
        script.play(otherWay())
        #expect(try await timer.sleep(for: long) == .path)
        #expect(try await timer.sleep(for: .milliseconds(1)) == .time)
    }

    @Test("A cancelled task and a cancelled monitor end the sleep with an error")
    func cancelling() async throws {
        let monitor = ReachabilityMonitor(script: script)
        let timer = ReachabilityRetryTimer(monitor)
        for isEarly in [true, false] {
            let task = Task { [long] in try await timer.sleep(for: long) }
            if !isEarly { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let task = Task { [long] in try await timer.sleep(for: long) }
        monitor.cancel()
        await #expect(throws: ReachabilityError.self) { try await task.value }
        await #expect(throws: ReachabilityError.self) { try await timer.sleep(for: long) }
    }

    @Test("Two tasks that sleep on one timer are a mistake of the program")
    func twoSleepers() async {
        await #expect(processExitsWith: .failure) {
            let clock = TestClock()
            let monitor = ReachabilityMonitor(script: ReachabilityScript())
            let timer = ReachabilityRetryTimer(monitor, clock: clock)
            let first = Task { try await timer.sleep(for: .seconds(1)) }
            await clock.waitForSleeper()
            _ = try? await timer.sleep(for: .zero)
            first.cancel()
        }
    }

    @Test("A storm of flaps ends one sleep in each interval, by the clock of the timer")
    func storm() async throws {
        let clock = TestClock()
        let timer = ReachabilityRetryTimer(ReachabilityMonitor(script: script), clock: clock)
        var wakes = 0
        for _ in 0..<100 {
            script.play(.unreachable(.noCarrier))
            script.play(.over("a"))
            if try await timer.sleep(for: .zero) != .time { wakes += 1 }
            clock.advance(by: .milliseconds(100))
        }
        #expect(wakes == 10)
    }

    @Test("With a clock of its own, a test decides when the time of a sleep and of a wait is over")
    func ownClock() async throws {
        let clock = TestClock()
        let monitor = ReachabilityMonitor(script: script)
        let timer = ReachabilityRetryTimer(monitor, clock: clock)
        async let wake = timer.sleep(for: long)
        await clock.waitForSleeper()
        clock.advance(by: long)
        #expect(try await wake == .time)
        script.play(.unreachable(.noCarrier))
        let path = Task { [long] in try await monitor.waitUntilReachable(timeout: long, clock: clock) }
        await clock.waitForSleeper()
        clock.advance(by: long)
        await #expect(throws: ReachabilityError(.timedOut)) { try await path.value }
    }

    @Test("10,000 sleepers of one target wake up by one change")
    func many() async throws {
        script.play(.unreachable(.noCarrier))
        let monitor = ReachabilityMonitor(script: script)
        let timers = (0..<10_000).map { _ in ReachabilityRetryTimer(monitor) }
        #expect(script.watchedMonitors == 1)
        try await withThrowingTaskGroup(of: ReachabilityWake.self) { group in
            for timer in timers {
                group.addTask { [long] in try await timer.sleep(for: long) }
            }
            script.play(.over("a"))
            for try await wake in group { #expect(wake == .reachable) }
        }
    }

    @Test("With jitter, few sleepers wake up at once")
    func jitter() async throws {
        script.play(.unreachable(.noCarrier))
        let monitor = ReachabilityMonitor(script: script)
        let timers = (0..<1000).map { _ in ReachabilityRetryTimer(monitor, jitter: .seconds(6000)) }
        script.play(.over("a"))
        var early = 0
        for timer in timers where try await timer.sleep(for: .zero) != .time { early += 1 }
        // Even after a minute it would be ten.
        #expect(early < 100)
    }
}
