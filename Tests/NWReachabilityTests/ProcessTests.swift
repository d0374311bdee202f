// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import NWReachability
import TestSupport
import Testing

/// Each of these tests is a process of its own, because other tests open descriptors and start threads at the same time.
@Suite("A path monitor in a process of its own", .limited)
struct ProcessTests {
    @Test("Monitors that nobody starts open nothing and start no thread")
    func unstarted() async {
        await #expect(processExitsWith: .success) {
            try await startTimers()
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

    @Test(
        "currentPath makes no system call",
        .disabled(if: SystemCallFilter.isUnderThreadSanitizer, "the thread sanitizer makes system calls"))
    func load() async {
        await #expect(processExitsWith: .success) {
            let unstarted = NWPathMonitor()
            let (started, cancelled) = (NWPathMonitor(requiredInterfaceType: .loopback), NWPathMonitor())
            let calls = Recorder<Void>()
            for monitor in [started, cancelled] {
                monitor.pathUpdateHandler = { _ in calls.record(()) }
                monitor.start(queue: DispatchQueue(label: "paths"))
                await calls.next()
            }
            // Nothing changes from here on, so no thread waits for another one's lock.
            cancelled.cancel()
            let monitors = [unstarted, started, cancelled]
            func satisfied(in rounds: Int) -> Int {
                var count = 0
                for _ in 0..<rounds {
                    for monitor in monitors where monitor.currentPath.status == .satisfied { count += 1 }
                }
                return count
            }
            // A thread's first use of a Mutex asks for the thread's number.
            _ = satisfied(in: 1)
            try SystemCallFilter.killing.install()
            SystemCallFilter.exit(satisfied(in: 1000) >= 1000 ? 0 : 1)
        }
        // The filter works.
        await #expect(processExitsWith: .signal(SIGSYS)) {
            try SystemCallFilter.killing.install()
            _ = getppid()
            SystemCallFilter.exit(0)
        }
    }

    @Test("After storms of start, cancel and release, no thread, descriptor or memory stays")
    func storm() async {
        await #expect(processExitsWith: .success) {
            try await startTimers()
            let cycles = min(Repetitions.cycles, 10_000)
            let before = try Holdings().descriptors
            try await runStorm(cycles, until: before)
            // malloc(3) keeps memory for each thread, and Dispatch may start threads in a storm. So up to five storms are
            // measured, and one without growth is enough: 10,000 monitors that leak take millions of bytes in every storm.
            var growth = Int.max
            for _ in 0..<5 where growth >= 500_000 {
                let memory = try Holdings.memory()
                try await runStorm(cycles, until: before)
                growth = try Holdings.memory() - memory
            }
            #expect(growth < 500_000, "\(growth) bytes stay")
        }
    }

    @Test(
        "Where rtnetlink is denied, a path has the right status and families, and no interface is known",
        .namespaceInside)
    func denied() async {
        await #expect(processExitsWith: .success) {
            let monitors = try await DeniedMonitors(denied: [AF_NETLINK])
            let path = try #require(await monitors.plain.next())
            #expect(path.status == .satisfied && path.supportsIPv4 && !path.supportsIPv6)
            #expect(path.names == [] && path.gateways == [] && !path.isExpensive)
            let types: [NWInterface.InterfaceType] = [.other, .wifi, .cellular, .wiredEthernet, .loopback]
            #expect(!types.contains { path.usesInterfaceType($0) })
            #expect(await monitors.required.next()?.status == .unsatisfied)
            monitors.deleteDefaultRoute()
            #expect(await monitors.plain.next()?.status == .unsatisfied)
            monitors.cancel()
        }
    }

    @Test("Where all sockets are denied, no path is satisfied", .namespaceInside)
    func deniedEntirely() async {
        await #expect(processExitsWith: .success) {
            let monitors = try await DeniedMonitors(denied: [AF_NETLINK, AF_INET, AF_INET6])
            #expect(await monitors.plain.next()?.status == .unsatisfied)
            #expect(await monitors.required.next()?.status == .unsatisfied)
            monitors.cancel()
        }
    }
}

/// Returns when Dispatch has the descriptors and the thread that it needs for timers. It opens its timerfd last, and only for
/// a timer that is not due yet. Nothing else in the process may use timers before.
private func startTimers() async throws {
    DispatchQueue.global().asyncAfter(deadline: .now() + 1000) {}
    try await waitUntil { try Holdings().descriptors.contains { $0.hasSuffix("[timerfd]") } }
}

/// Also waits until the library's threads have ended and the process has no more than these descriptors.
private func runStorm(_ cycles: Int, until before: Set<String>) async throws {
    let (ended, late) = (Recorder<Void>(), Recorder<Void>())
    runStorm(cycles, DispatchQueue(label: "paths"), ended, late)
    for _ in 0..<cycles { await ended.next() }
    #expect(late.count == 0)
    let deadline = ContinuousClock.now + .seconds(TimeLimit.seconds / 10)
    func remaining() throws -> [String] {
        try Holdings.threads(named: "reach") + Holdings().descriptors.subtracting(before)
    }
    var remained: [String] = []
    try await waitUntil {
        remained = try remaining()
        return remained.isEmpty || .now > deadline
    }
    #expect(remained == [], "\(remained)")
}

/// Monitors in a namespace with a default route of IPv4, started by a thread that may not open some sockets.
private struct DeniedMonitors {
    let plain = Recorder<NWPath>()
    /// Of a monitor that requires the type of the interface with the default route.
    let required = Recorder<NWPath>()
    private let monitors: [NWPathMonitor]
    /// Stopped. The thread's filter may have spread to those that could run ip(8) later.
    private let deletion: RunningProcess

    /// Waits for a try to start that is under way. Otherwise the process could end in the middle of it, with a thread that has
    /// ended and that nobody has joined yet.
    func cancel() { monitors.forEach { $0.cancel() } }

    init(denied families: [Int32]) async throws {
        let namespace = try await Namespace(.gateway)
        deletion = try namespace.start(["sh", "-c", "kill -STOP $$; exec ip route delete default"])
        try await deletion.untilStopped()
        let started = Recorder<Result<[NWPathMonitor], any Error>>()
        try startThread { [plain, required] in
            started.record(
                Result {
                    try namespace.inside {
                        try SystemCallFilter.denying(socketsOf: families).install()
                        let monitors = [NWPathMonitor(), NWPathMonitor(requiredInterfaceType: .wiredEthernet)]
                        for (monitor, paths) in zip(monitors, [plain, required]) {
                            monitor.pathUpdateHandler = { paths.record($0) }
                            monitor.start(queue: DispatchQueue(label: "paths"))
                        }
                        return monitors
                    }
                })
        }
        monitors = try await #require(started.next()).get()
    }

    func deleteDefaultRoute() {
        deletion.send(SIGCONT)
    }
}
