// SPDX-License-Identifier: MIT

import NetworkReachability
import TestSupport
import Testing

@Suite("Settling", .patient)
struct SettlingTests {
    private let start = ContinuousClock.now

    @Test("A change is due when nothing has changed for the time")
    func quiet() {
        var settling = Settling(time: .seconds(2))
        #expect(settling.due == nil && !settling.isImmediate)
        settling.change(at: start)
        #expect(settling.due == start + .seconds(2))
        settling.change(at: start + .seconds(1))
        #expect(settling.due == start + .seconds(3))
        settling.end()
        #expect(settling.due == nil)
        settling.change(at: start + .seconds(100))
        #expect(settling.due == start + .seconds(102))
    }

    @Test("What never comes to rest is due after ten times as long")
    func restless() {
        var settling = Settling(time: .seconds(2))
        for second in 0..<19 { settling.change(at: start + .seconds(second)) }
        #expect(settling.due == start + .seconds(20))
        settling.change(at: start + .seconds(19.5))
        #expect(settling.due == start + .seconds(20))
    }

    @Test("No time, or less, is at once; any other can be counted with", arguments: [Int64.min, -1, 0, 1, .max])
    func limits(seconds: Int64) {
        var settling = Settling(time: .seconds(seconds))
        #expect(settling.isImmediate == (seconds <= 0))
        settling.change(at: start)
    }

    @Test("A monitor tells of the first path at once, and of what has settled later")
    func monitor() async {
        let script = ReachabilityScript(.over("a"))
        let time = Duration.milliseconds(20)
        let monitor = ReachabilityMonitor(script: script, settleTime: time)
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == .over("a"))
        let start = ContinuousClock.now
        script.play(.over("b"))
        #expect(monitor.path == .over("b"))
        #expect(await iterator.next() == .over("b"))
        #expect(ContinuousClock.now - start >= time)
    }

    @Test("A link that comes back in time was never away")
    func flapping() async {
        let script = ReachabilityScript(.over("a"))
        // Longer than this test: nothing but the end of the monitor can come.
        let monitor = ReachabilityMonitor(script: script, settleTime: .seconds(1000))
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == .over("a"))
        for _ in 0..<10 {
            script.play(.unreachable(.noCarrier))
            script.play(.over("a"))
        }
        // Another iterator begins with what the others were told.
        script.play(.unreachable(.noCarrier))
        var late = monitor.makeAsyncIterator()
        #expect(await late.next() == .over("a"))
        monitor.cancel()
        #expect(await iterator.next() == nil)
    }
}
