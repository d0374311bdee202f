// SPDX-License-Identifier: MIT

import Dispatch
import NWReachability
import TestSupport
import Testing

@Suite("Cancel while a call is in flight", .limited)
struct CancelTests {
    @Test(
        "On another thread it does not wait for the call in flight, and that is the last one",
        arguments: [false, true])
    func elsewhere(isConcurrent: Bool) async {
        let script = NWPathMonitor.Script(.over("a"))
        let queue = DispatchQueue(label: "paths", attributes: isConcurrent ? .concurrent : [])
        let monitor = NWPathMonitor(script: script)
        let (calls, cancelled) = (Recorder<String>(), Recorder<Void>())
        let mayReturn = DispatchSemaphore(value: 0)
        monitor.pathUpdateHandler = { path in
            calls.record(path.names.joined())
            mayReturn.wait()
        }
        monitor.start(queue: queue)
        #expect(await calls.next() == "a")

        script.play(.over("b"))
        DispatchQueue.global().async {
            monitor.cancel()
            cancelled.record(())
        }
        await cancelled.next()
        script.play(.over("c"))
        #expect(script.watchedMonitors == 0 && monitor.pathUpdateHandler == nil)
        #expect(monitor.currentPath.names == ["b"] && calls.count == 1)
        // A second call would return at once.
        for _ in 0..<2 { mayReturn.signal() }
        // The call ends before the first of these, and what it queued before the second one.
        for _ in 0..<2 { queue.sync(flags: .barrier) {} }
        #expect(await calls.rest() == [])
    }
}
