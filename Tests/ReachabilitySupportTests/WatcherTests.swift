// SPDX-License-Identifier: MIT

import ReachabilitySupport
import SCReachability
import Synchronization
import TestSupport
import Testing

@Suite("A watcher", .patient)
struct WatcherTests {
    private let queue = DispatchQueue(label: "arrivals of a test")

    private func makeTarget() throws -> SCNetworkReachability {
        try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
    }

    @Test("A receiver that was never watched may stop the watcher when it is let go of")
    func letGo() async throws {
        let target = try makeTarget()
        let watcher = Watcher(target, queue: queue)
        let events = Recorder<String>()
        // Called while the first start is under way: the others leave word.
        setHook(of: target) {
            #expect(watcher.start(Receiver(onEnd: { events.record("second ended") }, onDeinit: watcher.stop)))
            #expect(watcher.start(Receiver(onEnd: { events.record("third ended") })))
        }
        #expect(watcher.start(Receiver(onEnd: { events.record("first ended") })))
        for event in ["first ended", "second ended", "third ended"] { #expect(await events.next() == event) }
        // Nothing of it is left.
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    }

    @Test("A start waits for no other: a hook of the target's may wait for one")
    func patience() async throws {
        let target = try makeTarget()
        let watcher = Watcher(target, queue: queue)
        let told = Recorder<SCNetworkReachabilityFlags>()
        setHook(of: target) {
            let isStarted = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                #expect(watcher.start(Receiver(onFlags: told.record)))
                isStarted.signal()
            }
            isStarted.wait()
        }
        let ended = Recorder<Void>()
        #expect(watcher.start(Receiver(onEnd: { ended.record(()) })))
        await ended.next()
        #expect(await told.next()?.contains(.reachable) == true)
        watcher.stop()
    }

    @Test("Of two threads that start it at once if it is stopped, one does")
    func once() async throws {
        let rounds = Repetitions.tries
        let watcher = Watcher(try makeTarget(), queue: queue)
        let turns = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let arrivals = Atomic(0)
        let ends = Atomic(0)
        let ended = Recorder<Void>()
        for thread in 0..<2 {
            @Sendable func meet() {
                turns[1 - thread].signal()
                turns[thread].wait()
            }
            try startThread {
                for round in 1...rounds {
                    meet()
                    // One has been woken and the other has not slept: they go on together, if both are running.
                    arrivals.add(1, ordering: .relaxed)
                    for _ in 0..<1000 where arrivals.load(ordering: .relaxed) < round * 2 {}
                    let receiver = Receiver(onEnd: { ends.add(1, ordering: .relaxed) })
                    #expect(watcher.start(receiver, ifStopped: true))
                    meet()
                    if thread == 0 { watcher.stop() }
                }
                ended.record(())
            }
        }
        for _ in 0..<2 { await ended.next() }
        #expect(ends.load(ordering: .relaxed) == rounds)
    }

    @Test("Without a target it cannot be started, and SCError() says why")
    func noTarget() async throws {
        let watcher = Watcher(nil, queue: queue)
        let status = Recorder<Int>()
        // On a thread where nothing has failed yet.
        try startThread {
            #expect(SCError() == 0)
            #expect(!watcher.start(Receiver()))
            status.record(Int(SCError()))
        }
        #expect(await status.next() == kSCStatusInvalidArgument)
        watcher.stop()
    }
}

private final class Receiver: FlagsReceiver {
    private let onFlags: @Sendable (SCNetworkReachabilityFlags) -> Void
    private let onEnd: @Sendable () -> Void
    private let onDeinit: @Sendable () -> Void

    init(
        onFlags: @escaping @Sendable (SCNetworkReachabilityFlags) -> Void = { _ in },
        onEnd: @escaping @Sendable () -> Void = {},
        onDeinit: @escaping @Sendable () -> Void = {}
    ) {
        self.onFlags = onFlags
        self.onEnd = onEnd
        self.onDeinit = onDeinit
    }

    deinit {
        onDeinit()
    }

    func receive(_ flags: SCNetworkReachabilityFlags) { onFlags(flags) }
    func end() { onEnd() }
}

/// Calls `body` when the target gets another callback, on the thread that sets it: in the midst of a start.
private func setHook(of target: SCNetworkReachability, _ body: @escaping @Sendable () -> Void) {
    let hook = Hook(body)
    var context = SCNetworkReachabilityContext(
        version: 0,
        info: Unmanaged.passUnretained(hook).toOpaque(),
        retain: { UnsafeRawPointer(Unmanaged<Hook>.fromOpaque($0).retain().toOpaque()) },
        release: { Unmanaged<Hook>.fromOpaque($0).release() },
        copyDescription: nil)
    withExtendedLifetime(hook) {
        #expect(SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context))
    }
}

private final class Hook: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}
