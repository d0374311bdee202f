// SPDX-License-Identifier: MIT

import NetworkReachability
import Synchronization
import TestSupport
import Testing

extension ReachabilityPath {
    /// A path over an interface of this name. Paths with different names differ.
    static func over(_ name: String) -> ReachabilityPath {
        ReachabilityPath(flags: .reachable, interface: Interface(name: name, index: 1, type: .other))
    }
}

@Suite("A monitor as an asynchronous sequence", .limited)
struct AsyncSequenceTests {
    private let script = ReachabilityScript(.over("a"))

    @Test("An iterator gets the current path first, and then each path that differs from the last")
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

    @Test("An iterator that waits gets each path")
    func waiting() async {
        let monitor = ReachabilityMonitor(script: script)
        let received = Recorder<Void>()
        let seen = Task {
            var seen: [ReachabilityPath] = []
            for await path in monitor {
                seen.append(path)
                if seen.count == 100 { break }
                received.record(())
            }
            return seen
        }
        for number in 1..<100 {
            await received.next()
            script.play(.over("\(number)"))
        }
        #expect(await seen.value == [.over("a")] + (1..<100).map { .over("\($0)") })
    }

    @Test("A slow iterator gets only the newest path, also as its first path")
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

    @Test("The iterators of a cancelled task end, also an iterator that is made later in that task")
    func cancelledTask() async {
        let monitor = ReachabilityMonitor(script: script)
        let received = Recorder<Void>()
        let task = Task {
            var count = 0
            for await _ in monitor {
                count += 1
                received.record(())
            }
            var other = monitor.makeAsyncIterator()
            let isAtEnd = await other.next() == nil
            return (count, isAtEnd)
        }
        await received.next()
        task.cancel()
        #expect(await task.value == (1, true))
        #expect(script.watchedMonitors == 0)
    }

    @Test("A loop keeps its monitor until break")
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

    @Test("cancel() ends all iterators, also later ones, and the path can still be read")
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

    @Test("cancel() ends an iterator that waits")
    func cancelledWhileWaiting() async {
        let monitor = ReachabilityMonitor(script: script)
        let received = Recorder<Void>()
        let task = Task { for await _ in monitor { received.record(()) } }
        await received.next()
        monitor.cancel()
        await task.value
    }

    @Test("A loop on an actor stays on the actor")
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

    @Test("A call of next() on an actor does not leave the actor if there is a path")
    func staying() async {
        let monitor = ReachabilityMonitor(script: script)
        let jobs = await CountingActor().jobs { _ in
            var iterator = monitor.makeAsyncIterator()
            _ = await iterator.next()
        }
        #expect(jobs == 0)
    }

    @Test("All iterators get the last of many changes from several threads")
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
                            // Gives other tests the threads of these tasks.
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

@Suite("The waits of a monitor", .limited)
struct WaitTests {
    private let script = ReachabilityScript(.unreachable())

    @Test("A wait returns at once if the target is reachable, also with a time-out of zero")
    func now() async throws {
        script.play(.over("a"))
        let monitor = ReachabilityMonitor(script: script)
        #expect(try await monitor.waitUntilReachable() == .over("a"))
        #expect(try await monitor.waitUntilReachable(timeout: .zero) == .over("a"))
    }

    @Test(
        "A wait returns as soon as the target is reachable",
        arguments: [nil, Duration.seconds(TimeLimit.seconds), .seconds(Int64.max)])
    func later(timeout: Duration?) async throws {
        let monitor = ReachabilityMonitor(script: script)
        async let path = monitor.waitUntilReachable(timeout: timeout)
        try await waitUntil { script.watchedMonitors > 0 }
        script.play(.unreachable(.noCarrier))
        script.play(.over("b"))
        #expect(try await path == .over("b"))
        #expect(script.watchedMonitors == 0)
    }

    @Test("A wait does not return for a pending name")
    func pending() async {
        script.play(ReachabilityPath(flags: .reachable, reason: .namePending))
        await #expect(throws: ReachabilityError(.timedOut)) {
            try await ReachabilityMonitor(script: script).waitUntilReachable(timeout: .milliseconds(1))
        }
    }

    @Test("The path of a name is known when the look-up has ended, and of any other target at once")
    func known() async throws {
        let pending = ReachabilityPath(flags: .reachable, reason: .namePending)
        #expect(try await ReachabilityMonitor(script: script).knownPath() == .unreachable())
        script.play(pending)
        let monitor = ReachabilityMonitor(script: script)
        await #expect(throws: ReachabilityError(.timedOut)) { try await monitor.knownPath(timeout: .zero) }
        async let path = monitor.knownPath()
        try await waitUntil { script.watchedMonitors > 0 }
        script.play(.unreachable(.nameNotFound))
        #expect(try await path == .unreachable(.nameNotFound))
    }

    @Test("The next change is the first path that differs from the one given, or else from the current one")
    func change() async throws {
        let monitor = ReachabilityMonitor(script: script)
        #expect(try await monitor.nextChange(after: .over("a")) == .unreachable())
        async let path = monitor.nextChange()
        try await waitUntil { script.watchedMonitors > 0 }
        script.play(.unreachable())
        script.play(.over("b"))
        #expect(try await path == .over("b"))
    }

    @Test("A loop over the changes of a name does not get the pending paths between its waits")
    func changeOfName() async throws {
        let monitor = ReachabilityMonitor(source: MissingNameSource())
        let path = try await monitor.nextChange()
        #expect(path.reason == .nameNotFound)
        await #expect(throws: ReachabilityError(.timedOut)) {
            try await monitor.nextChange(after: path, timeout: .milliseconds(1))
        }
    }

    @Test("The error has the last path of the wait, even if the monitor's path is pending again")
    func lastPath() async throws {
        let monitor = ReachabilityMonitor(source: MissingNameSource())
        func failure(timeout: Duration) async -> ReachabilityError? {
            do {
                try await monitor.waitUntilReachable(timeout: timeout)
                return nil
            } catch {
                return error as? ReachabilityError
            }
        }
        // Tries again until the wait is long enough to get a path.
        var timeout = Duration.milliseconds(1)
        var error = await failure(timeout: timeout)
        while error?.path == .unreachable(.namePending) {
            timeout *= 2
            error = await failure(timeout: timeout)
        }
        #expect(error == ReachabilityError(.timedOut))
        #expect(error?.path == .unreachable(.nameNotFound))
        #expect(error.map { "\($0)" } == "timed out: not reachable: name not found")
        #expect(monitor.path.reason == .namePending)
    }

    @Test("A wait throws at its time-out, and when its task or its monitor is cancelled")
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
        let other = Task { try await monitor.waitUntilReachable(timeout: .seconds(TimeLimit.seconds)) }
        try await waitUntil { script.watchedMonitors > 0 }
        monitor.cancel()
        await #expect(throws: ReachabilityError(.cancelled)) { try await other.value }
    }
}

/// The source of a name that does not exist. The name is pending while the source is stopped.
private final class MissingNameSource: Source {
    private let isStarted = Atomic(false)

    func path() -> ReachabilityPath? {
        .unreachable(isStarted.load(ordering: .relaxed) ? .nameNotFound : .namePending)
    }

    func start(onChange: @escaping @Sendable () -> Void) { isStarted.store(true, ordering: .relaxed) }
    func stop() { isStarted.store(false, ordering: .relaxed) }
}
