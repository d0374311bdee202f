// SPDX-License-Identifier: MIT

import NetworkReachability
import TestSupport
import Testing

@Suite("The settle time", .limited)
struct DebouncerTests {
    private let start = ContinuousClock.now

    @Test("A change is due when nothing has changed for the settle time")
    func quiet() {
        var debouncer = Debouncer(settleTime: .seconds(2))
        #expect(debouncer.due == nil && !debouncer.isImmediate)
        debouncer.recordChange(at: start)
        #expect(debouncer.due == start + .seconds(2))
        debouncer.recordChange(at: start + .seconds(1))
        #expect(debouncer.due == start + .seconds(3))
        debouncer.reset()
        #expect(debouncer.due == nil)
        debouncer.recordChange(at: start + .seconds(100))
        #expect(debouncer.due == start + .seconds(102))
    }

    @Test("Changes that go on are due after ten times the settle time")
    func restless() {
        var debouncer = Debouncer(settleTime: .seconds(2))
        for second in 0..<19 { debouncer.recordChange(at: start + .seconds(second)) }
        #expect(debouncer.due == start + .seconds(20))
        debouncer.recordChange(at: start + .seconds(19.5))
        #expect(debouncer.due == start + .seconds(20))
    }

    @Test("A settle time of zero or less means at once, and none overflows", arguments: [Int64.min, -1, 0, 1, .max])
    func limits(seconds: Int64) {
        var debouncer = Debouncer(settleTime: .seconds(seconds))
        #expect(debouncer.isImmediate == (seconds <= 0))
        debouncer.recordChange(at: start)
    }

    @Test("A monitor reports the first path at once, and a change after the settle time, by the clock of the test")
    func monitor() async {
        let script = ReachabilityScript(.over("a"))
        let (clock, time) = (TestClock(), Duration.seconds(600))
        let monitor = ReachabilityMonitor(script: script, settleTime: time, clock: clock)
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == .over("a"))
        script.play(.over("b"))
        #expect(monitor.path == .over("b"))
        await clock.waitForSleeper()
        clock.advance(by: time)
        #expect(await iterator.next() == .over("b"))
    }

    @Test("A change that is undone within the settle time is not reported")
    func flapping() async {
        let script = ReachabilityScript(.over("a"))
        // Longer than this test, so only the end of the monitor can be next.
        let monitor = ReachabilityMonitor(script: script, settleTime: .seconds(1000))
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == .over("a"))
        for _ in 0..<10 {
            script.play(.unreachable(.noCarrier))
            script.play(.over("a"))
        }
        // A new iterator begins with the last reported path.
        script.play(.unreachable(.noCarrier))
        var late = monitor.makeAsyncIterator()
        #expect(await late.next() == .over("a"))
        monitor.cancel()
        #expect(await iterator.next() == nil)
    }
}
