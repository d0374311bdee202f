// SPDX-License-Identifier: MIT

import NetworkReachability
import Synchronization
import TestSupport
import Testing

/// Paths that can be told apart.
extension ReachabilityPath {
    static func over(_ name: String) -> ReachabilityPath {
        ReachabilityPath(flags: .reachable, interface: Interface(name: name, index: 1, type: .other))
    }
}

@Suite("A monitor as a sequence", .patient)
struct IteratorTests {
    private let script = ReachabilityScript(.over("a"))

    @Test("Gives the current path first, and then those that differ")
    func distinct() async {
        var iterator = ReachabilityMonitor(script: script).makeAsyncIterator()
        #expect(await iterator.next() == .over("a"))
        script.play(.over("a"))
        script.play(.over("b"))
        #expect(await iterator.next() == .over("b"))
        script.play(.over("c"))
        script.play(.over("b"))
        script.play(.over("d"))
        #expect(await iterator.next() == .over("d"))
    }

    @Test("Waits for what comes while it waits")
    func waiting() async {
        let monitor = ReachabilityMonitor(script: script)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let seen = Task {
            var seen: [ReachabilityPath] = []
            for await path in monitor {
                seen.append(path)
                if seen.count == 100 { break }
                ask.yield()
            }
            return seen
        }
        var number = 0
        for await _ in asked {
            number += 1
            script.play(.over("\(number)"))
            if number == 99 { break }
        }
        #expect(await seen.value == [.over("a")] + (1..<100).map { .over("\($0)") })
    }

    @Test("Gives a slow iterator the newest alone, also as the first")
    func newest() async {
        let monitor = ReachabilityMonitor(script: script)
        var iterator = monitor.makeAsyncIterator()
        for name in ["b", "c", "d"] { script.play(.over(name)) }
        #expect(await iterator.next() == .over("d"))
    }

    @Test("Iterators are independent")
    func independent() async {
        let monitor = ReachabilityMonitor(script: script)
        var one = monitor.makeAsyncIterator()
        #expect(await one.next() == .over("a"))
        script.play(.over("b"))
        var other = monitor.makeAsyncIterator()
        #expect(await other.next() == .over("b"))
        script.play(.over("c"))
        #expect(await one.next() == .over("c"))
        #expect(await other.next() == .over("c"))
        #expect(script.watchedMonitors == 1)
    }

    @Test("Ends when its task is cancelled, before, while and after it waits")
    func cancelledTask() async {
        let monitor = ReachabilityMonitor(script: script)
        let (waits, wait) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var count = 0
            for await _ in monitor {
                count += 1
                wait.yield()
            }
            var other = monitor.makeAsyncIterator()
            let isAtEnd = await other.next() == nil
            return (count, isAtEnd)
        }
        for await _ in waits { break }
        task.cancel()
        #expect(await task.value == (1, true))
        #expect(script.watchedMonitors == 0)
    }

    @Test("Ends with break, and keeps its monitor until then")
    func leaving() async {
        weak var kept: ReachabilityMonitor?
        func makeMonitor() -> ReachabilityMonitor {
            let monitor = ReachabilityMonitor(script: script)
            kept = monitor
            return monitor
        }
        for await _ in makeMonitor() {
            #expect(kept != nil)
            #expect(script.watchedMonitors == 1)
            break
        }
        #expect(script.watchedMonitors == 0)
        #expect(kept == nil)
    }

    @Test("All end with cancel(), for good, and the path can still be read")
    func cancelled() async {
        let monitor = ReachabilityMonitor(script: script)
        var iterators = (monitor.makeAsyncIterator(), monitor.makeAsyncIterator())
        #expect(await iterators.0.next() == .over("a"))
        monitor.cancel()
        monitor.cancel()
        #expect(await iterators.0.next() == nil)
        #expect(await iterators.1.next() == nil)
        var late = monitor.makeAsyncIterator()
        #expect(await late.next() == nil)
        #expect(script.watchedMonitors == 0)
        script.play(.over("b"))
        #expect(monitor.path == .over("b"))
    }

    @Test("cancel() ends what waits")
    func cancelledMeanwhile() async {
        let monitor = ReachabilityMonitor(script: script)
        let (waits, wait) = AsyncStream.makeStream(of: Void.self)
        let task = Task { for await _ in monitor { wait.yield() } }
        for await _ in waits { break }
        monitor.cancel()
        await task.value
    }

    @Test("Is iterated on an actor without leaving it")
    @MainActor func isolated() async {
        var count = 0
        for await _ in ReachabilityMonitor(script: script) {
            MainActor.assertIsolated()
            count += 1
            if count == 2 { break }
            script.play(.over("b"))
        }
        #expect(count == 2)
    }

    @Test("Changes from many threads at once: all iterators end with the last")
    func storm() async {
        let monitor = ReachabilityMonitor(script: script)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for await path in monitor where path == .over("end") { return }
                }
            }
            await withTaskGroup { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in 0..<Repetitions.tries {
                            script.play(.over("\(task) \(number)"))
                            // Other tests wait for the threads of these tasks.
                            if number % 100 == 0 { await Task.yield() }
                        }
                    }
                }
            }
            script.play(.over("end"))
        }
        #expect(script.watchedMonitors == 0)
    }
}

@Suite("Waiting until a target is reachable", .patient)
struct WaitTests {
    private let script = ReachabilityScript(.unreachable())

    @Test("Answers at once when it is, also without any time")
    func now() async throws {
        script.play(.over("a"))
        let monitor = ReachabilityMonitor(script: script)
        #expect(try await monitor.waitUntilReachable() == .over("a"))
        #expect(try await monitor.waitUntilReachable(timeout: .zero) == .over("a"))
    }

    @Test("Answers as soon as it is", arguments: [nil, Duration.seconds(Patience.seconds), .seconds(Int64.max)])
    func later(timeout: Duration?) async throws {
        let monitor = ReachabilityMonitor(script: script)
        async let path = monitor.waitUntilReachable(timeout: timeout)
        try await waitUntil { script.watchedMonitors > 0 }
        script.play(.unreachable(.noCarrier))
        script.play(.over("b"))
        #expect(try await path == .over("b"))
        #expect(script.watchedMonitors == 0)
    }

    @Test("A name that is pending is not reachable")
    func pending() async {
        script.play(ReachabilityPath(flags: .reachable, reason: .namePending))
        await #expect(throws: ReachabilityError(.timedOut)) {
            try await ReachabilityMonitor(script: script).waitUntilReachable(timeout: .milliseconds(1))
        }
    }

    @Test("The error tells the path of the wait, also where there is an answer only while somebody waits")
    func lastPath() async throws {
        let monitor = ReachabilityMonitor(source: Name())
        func failure(timeout: Duration) async -> ReachabilityError? {
            do {
                try await monitor.waitUntilReachable(timeout: timeout)
                return nil
            } catch {
                return error as? ReachabilityError
            }
        }
        // Until the wait was long enough to see anything.
        var timeout = Duration.milliseconds(1)
        var error = await failure(timeout: timeout)
        while error?.path == .unreachable(.namePending) {
            timeout *= 2
            error = await failure(timeout: timeout)
        }
        #expect(error == ReachabilityError(.timedOut))
        #expect(error?.path == .unreachable(.nameNotFound))
        #expect(error.map { "\($0)" } == "not reachable in time: name not found")
        #expect(monitor.path.reason == .namePending)
    }

    @Test("Throws at the time-out, on cancellation of the task, and of the monitor")
    func ends() async throws {
        let monitor = ReachabilityMonitor(script: script)
        await #expect(throws: ReachabilityError(.timedOut)) {
            try await monitor.waitUntilReachable(timeout: .milliseconds(1))
        }
        await #expect(throws: ReachabilityError(.timedOut)) {
            try await monitor.waitUntilReachable(timeout: .seconds(Int64.min))
        }
        let task = Task { try await monitor.waitUntilReachable() }
        try await waitUntil { script.watchedMonitors > 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let other = Task { try await monitor.waitUntilReachable(timeout: .seconds(Patience.seconds)) }
        try await waitUntil { script.watchedMonitors > 0 }
        monitor.cancel()
        await #expect(throws: ReachabilityError(.monitorCancelled)) { try await other.value }
    }
}

/// A name that is looked up, and not found, while it is watched.
private final class Name: Source {
    private let isWatched = Atomic(false)

    func path() -> ReachabilityPath? {
        .unreachable(isWatched.load(ordering: .relaxed) ? .nameNotFound : .namePending)
    }

    func start(onChange: @escaping @Sendable () -> Void) { isWatched.store(true, ordering: .relaxed) }
    func stop() { isWatched.store(false, ordering: .relaxed) }
}
