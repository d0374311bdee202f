// SPDX-License-Identifier: MIT

import Dispatch
import NetworkReachability
import TestSupport
import Observation
import Synchronization
import Testing

/// What observers were called with, as something that can be waited for.
private struct Calls: Sendable {
    let paths: AsyncStream<ReachabilityPath>
    let call: AsyncStream<ReachabilityPath>.Continuation

    init() {
        (paths, call) = AsyncStream.makeStream()
    }
}

@Suite("Observers", .patient)
struct ObserverTests {
    private let script = ReachabilityScript(.over("a"))
    private let onQueue = DispatchSpecificKey<Bool>()

    @Test("Are called with the current path and then with each change, on the queue that is named")
    func onQueue() async {
        let queue = DispatchQueue(label: "observers")
        queue.setSpecific(key: onQueue, value: true)
        let calls = Calls()
        let observation = ReachabilityMonitor(script: script).observe(on: queue) { [onQueue] path in
            #expect(DispatchQueue.getSpecific(key: onQueue) == true)
            calls.call.yield(path)
        }
        var seen: [ReachabilityPath] = []
        for await path in calls.paths {
            seen.append(path)
            if seen.count == 3 { break }
            script.play(.over("\(seen.count)"))
        }
        #expect(seen == [.over("a"), .over("1"), .over("2")])
        // On that queue nothing comes after cancel().
        queue.sync {
            script.play(.over("late"))
            observation.cancel()
            observation.cancel()
        }
        queue.sync {}
        calls.call.finish()
        for await path in calls.paths { Issue.record("called with \(path)") }
        #expect(script.watchedMonitors == 0)
    }

    @Test("Are called elsewhere than on the main queue when no queue is named")
    @MainActor func onOwnQueue() async {
        let calls = Calls()
        let observation = ReachabilityMonitor(script: script).observe { path in
            dispatchPrecondition(condition: .notOnQueue(.main))
            calls.call.yield(path)
        }
        for await path in calls.paths {
            #expect(path == .over("a"))
            break
        }
        withExtendedLifetime(observation) {}
    }

    @Test("On a concurrent queue calls do not overlap; a slow one is called with the newest next")
    func slow() async {
        let calls = Calls()
        let isInside = Mutex(false)
        let gate = DispatchSemaphore(value: 0)
        let observation = ReachabilityMonitor(script: script).observe(on: .global()) { path in
            isInside.withLock {
                #expect(!$0)
                $0 = true
            }
            calls.call.yield(path)
            gate.wait()
            isInside.withLock { $0 = false }
        }
        var iterator = calls.paths.makeAsyncIterator()
        #expect(await iterator.next() == .over("a"))
        for name in ["b", "c", "d"] { script.play(.over(name)) }
        gate.signal()
        #expect(await iterator.next() == .over("d"))
        script.play(.over("e"))
        script.play(.over("d"))
        script.play(.over("f"))
        gate.signal()
        #expect(await iterator.next() == .over("f"))
        gate.signal()
        withExtendedLifetime(observation) {}
    }

    @Test("End with their token, which lets go of what they hold")
    func token() async {
        final class Held: Sendable {}
        let queue = DispatchQueue(label: "observers")
        weak var held: Held?
        weak var kept: ReachabilityMonitor?
        do {
            let object = Held()
            held = object
            let monitor = ReachabilityMonitor(script: script)
            kept = monitor
            let observation = monitor.observe(on: queue) { [monitor] _ in withExtendedLifetime((object, monitor)) {} }
            #expect(script.watchedMonitors == 1)
            withExtendedLifetime(observation) {}
        }
        #expect(script.watchedMonitors == 0)
        queue.sync {}
        #expect(held == nil)
        #expect(kept == nil)
    }

    @Test("End with their monitor's cancel(), which lets go of what they hold", arguments: [true, false])
    func cancelled(byMonitor: Bool) {
        final class Held: Sendable {}
        let queue = DispatchQueue(label: "observers")
        let monitor = ReachabilityMonitor(script: script)
        weak var held: Held?
        func observe() -> ReachabilityObservation {
            let object = Held()
            held = object
            return monitor.observe(on: queue) { _ in withExtendedLifetime(object) {} }
        }
        let observation = observe()
        if byMonitor { monitor.cancel() } else { observation.cancel() }
        queue.sync {}
        #expect(held == nil)
        withExtendedLifetime(observation) {}
    }

    @Test("May cancel themselves, and their monitor, inside a call")
    func reentrant() async {
        let calls = Calls()
        let monitor = ReachabilityMonitor(script: script)
        let observation = Mutex<ReachabilityObservation?>(nil)
        let made = monitor.observe { path in
            observation.withLock { $0 }?.cancel()
            script.play(.over("b"))
            _ = monitor.path
            monitor.cancel()
            calls.call.yield(path)
            calls.call.finish()
        }
        observation.withLock { $0 = made }
        for await path in calls.paths { #expect(path == .over("a")) }
        #expect(script.watchedMonitors == 0)
    }

    @Test("Are called on an executor")
    func onExecutor() async throws {
        let executor = QueueExecutor()
        let calls = Calls()
        let observation = ReachabilityMonitor(script: script).observe(on: executor) { path in
            dispatchPrecondition(condition: .onQueue(executor.queue))
            calls.call.yield(path)
        }
        var seen: [ReachabilityPath] = []
        for await path in calls.paths {
            seen.append(path)
            if seen.count == 3 { break }
            script.play(.over("\(seen.count)"))
        }
        #expect(seen == [.over("a"), .over("1"), .over("2")])
        observation.cancel()
        try await waitUntil { script.watchedMonitors == 0 }
    }

    @Test("Are not called on an executor on which they were cancelled", arguments: [true, false])
    func cancelledOnExecutor(byToken: Bool) async throws {
        let executor = QueueExecutor()
        let calls = Calls()
        let monitor = ReachabilityMonitor(script: script)
        let observation = monitor.observe(on: executor) { calls.call.yield($0) }
        var seen: [ReachabilityPath] = []
        for await path in calls.paths {
            seen.append(path)
            break
        }
        // The path is on its way to the executor when it is over.
        executor.queue.sync {
            script.play(.over("late"))
            if byToken { observation.cancel() } else { monitor.cancel() }
        }
        try await waitUntil { script.watchedMonitors == 0 }
        executor.queue.sync {}
        calls.call.finish()
        for await path in calls.paths { seen.append(path) }
        #expect(seen == [.over("a")])
    }

    @Test("Come and go on several threads while paths change")
    func storm() async {
        let monitor = ReachabilityMonitor(script: script)
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<Repetitions.tries {
                        let calls = Mutex(0)
                        let observation = monitor.observe { _ in calls.withLock { $0 += 1 } }
                        script.play(.over("\(task) \(number)"))
                        if number % 2 == 0 { observation.cancel() }
                        // Other tests wait for the threads of these tasks.
                        if number % 100 == 0 { await Task.yield() }
                    }
                }
            }
        }
        #expect(script.watchedMonitors == 0)
    }
}

private final class QueueExecutor: TaskExecutor {
    let queue = DispatchQueue(label: "executor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

@Suite("A model for the Observation framework", .patient)
struct ModelTests {
    @Test("Tells of every change to what reads it on its queue, and watches as long as it lives")
    @MainActor func changes() async {
        let script = ReachabilityScript(.over("a"))
        do {
            let model = ReachabilityModel(ReachabilityMonitor(script: script), on: .main)
            #expect(model.path == .over("a"))
            for number in 1...10 {
                let (changes, change) = AsyncStream.makeStream(of: Void.self)
                withObservationTracking {
                    _ = model.path
                } onChange: {
                    change.yield()
                }
                script.play(.over("\(number)"))
                for await _ in changes { break }
                #expect(model.path == .over("\(number)"))
            }
            #expect(script.watchedMonitors == 1)
        }
        #expect(script.watchedMonitors == 0)
    }
}
