// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import NWReachability
import TestSupport
import Testing

/// Each of these tests is a process of its own, because other tests open descriptors and start threads at the same time.
@Suite("A path monitor in a process of its own", .patient)
struct ProcessTests {
    @Test("Monitors that nobody starts open nothing and start no thread")
    func unstarted() async {
        await #expect(processExitsWith: .success) {
            await startTimers()
            func openNothing() throws -> Bool {
                let before = try Holdings()
                let monitors = (0..<1000).flatMap { _ in
                    [
                        NWPathMonitor(), NWPathMonitor(requiredInterfaceType: .wifi),
                        NWPathMonitor(prohibitedInterfaceTypes: [.cellular]),
                    ]
                }
                return try withExtendedLifetime(monitors) { try Holdings() == before }
            }
            // Swift's own threads may come and go meanwhile. Then it is tried again.
            #expect(try (0..<20).contains { _ in try openNothing() })
            // The comparison sees what a start opens.
            let (before, monitor) = (try Holdings(), NWPathMonitor())
            monitor.start(queue: DispatchQueue(label: "paths"))
            #expect(try !Holdings().descriptors.isSubset(of: before.descriptors))
            try await waitUntil { try !Holdings.threads(named: "reachability").isEmpty }
            monitor.cancel()
        }
    }
}

/// Returns when Dispatch has the descriptors and the thread that it needs for timers.
private func startTimers() async {
    DispatchQueue.global().asyncAfter(deadline: .now() + 1000) {}
    await withCheckedContinuation { isReady in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isReady.resume() }
    }
}
