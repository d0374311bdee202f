// SPDX-License-Identifier: MIT

import Dispatch
import NetworkReachability
import TestSupport
import Observation
import Synchronization
import Testing

/// Held by an observer's closure, to check that the closure is released.
private final class HeldObject: Sendable {}

@Suite("Observers of a monitor", .limited)
struct ObserverTests {
    private let script = ReachabilityScript(.over("a"))
    private let onQueue = DispatchSpecificKey<Bool>()

    @Test("An observer is called on the given queue, with the current path and then with each change")
    func onQueue() async {
        let queue = DispatchQueue(label: "observers")
        queue.setSpecific(key: onQueue, value: true)
        let calls = Recorder<ReachabilityPath>()
        let observation = ReachabilityMonitor(script: script).observe(on: queue) { [onQueue] path in
            #expect(DispatchQueue.getSpecific(key: onQueue) == true)
            calls.record(path)
        }
        #expect(await calls.next() == .over("a"))
        for name in ["b", "c"] {
            script.play(.over(name))
            #expect(await calls.next() == .over(name))
        }
        // There is no call on this queue after cancel().
        queue.sync {
            script.play(.over("late"))
            observation.cancel()
            observation.cancel()
        }
        queue.sync {}
        #expect(await calls.rest() == [])
        #expect(script.watchedMonitors == 0)
    }

    @Test("Without a queue, an observer is called elsewhere than on the main queue")
    @MainActor func onLibraryQueue() async {
        let calls = Recorder<ReachabilityPath>()
        let observation = ReachabilityMonitor(script: script).observe { path in
            dispatchPrecondition(condition: .notOnQueue(.main))
            calls.record(path)
        }
        #expect(await calls.next() == .over("a"))
        withExtendedLifetime(observation) {}
    }

    @Test("Calls do not overlap on a concurrent queue, and a slow observer gets only the newest path")
    func slow() async {
        let calls = Recorder<ReachabilityPath>()
        let isInCall = Mutex(false)
        let mayReturn = DispatchSemaphore(value: 0)
        let observation = ReachabilityMonitor(script: script).observe(on: .global()) { path in
            isInCall.withLock {
                #expect(!$0)
                $0 = true
            }
            calls.record(path)
            mayReturn.wait()
            isInCall.withLock { $0 = false }
        }
        #expect(await calls.next() == .over("a"))
        for name in ["b", "c", "d"] { script.play(.over(name)) }
        mayReturn.signal()
        #expect(await calls.next() == .over("d"))
        script.play(.over("e"))
        script.play(.over("d"))
        script.play(.over("f"))
        mayReturn.signal()
        #expect(await calls.next() == .over("f"))
        mayReturn.signal()
        withExtendedLifetime(observation) {}
    }

    @Test("An observer ends with its token, and its closure is released")
    func token() async {
        let queue = DispatchQueue(label: "observers")
        weak var held: HeldObject?
        weak var kept: ReachabilityMonitor?
        do {
            let object = HeldObject()
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

    @Test("cancel() of an observer or of its monitor releases the observer's closure", arguments: [true, false])
    func cancelled(byMonitor: Bool) {
        let queue = DispatchQueue(label: "observers")
        let monitor = ReachabilityMonitor(script: script)
        weak var held: HeldObject?
        func observe() -> ReachabilityObservation {
            let object = HeldObject()
            held = object
            return monitor.observe(on: queue) { _ in withExtendedLifetime(object) {} }
        }
        let observation = observe()
        if byMonitor { monitor.cancel() } else { observation.cancel() }
        queue.sync {}
        #expect(held == nil)
        withExtendedLifetime(observation) {}
    }

    @Test("An observer may cancel itself and its monitor in a call")
    func reentrant() async {
        let calls = Recorder<ReachabilityPath>()
        let monitor = ReachabilityMonitor(script: script)
        let observation = Mutex<ReachabilityObservation?>(nil)
        let made = monitor.observe { path in
            observation.withLock { $0 }?.cancel()
            script.play(.over("b"))
            _ = monitor.path
            monitor.cancel()
            calls.record(path)
        }
        observation.withLock { $0 = made }
        #expect(await calls.next() == .over("a"))
        #expect(script.watchedMonitors == 0)
        #expect(await calls.rest() == [])
    }

    @Test("An observer may be called on an executor")
    func onExecutor() async throws {
        let executor = QueueExecutor()
        let calls = Recorder<ReachabilityPath>()
        let observation = ReachabilityMonitor(script: script).observe(on: executor) { path in
            dispatchPrecondition(condition: .onQueue(executor.queue))
            calls.record(path)
        }
        #expect(await calls.next() == .over("a"))
        for name in ["b", "c"] {
            script.play(.over(name))
            #expect(await calls.next() == .over(name))
        }
        observation.cancel()
        try await waitUntil { script.watchedMonitors == 0 }
    }

    @Test("An observer is not called on an executor after it was cancelled there", arguments: [true, false])
    func cancelledOnExecutor(byToken: Bool) async throws {
        let executor = QueueExecutor()
        let calls = Recorder<ReachabilityPath>()
        let monitor = ReachabilityMonitor(script: script)
        let observation = monitor.observe(on: executor) { calls.record($0) }
        #expect(await calls.next() == .over("a"))
        // The path is queued on the executor before the cancellation.
        executor.queue.sync {
            script.play(.over("late"))
            if byToken { observation.cancel() } else { monitor.cancel() }
        }
        try await waitUntil { script.watchedMonitors == 0 }
        executor.queue.sync {}
        #expect(await calls.rest() == [])
    }

    @Test("Observers may be added and cancelled on several threads while paths change")
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
                        // Gives other tests the threads of these tasks.
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

@Suite("ReachabilityModel", .limited)
struct ModelTests {
    @Test("A model notifies its readers on its queue of every change, and ends its watch when it is released")
    @MainActor func changes() async {
        let script = ReachabilityScript(.over("a"))
        do {
            let model = ReachabilityModel(ReachabilityMonitor(script: script), on: .main)
            #expect(model.path == .over("a"))
            for number in 1...10 {
                let changes = Recorder<Void>()
                withObservationTracking {
                    _ = model.path
                } onChange: {
                    changes.record(())
                }
                script.play(.over("\(number)"))
                await changes.next()
                #expect(model.path == .over("\(number)"))
            }
            #expect(script.watchedMonitors == 1)
        }
        #expect(script.watchedMonitors == 0)
    }
}
