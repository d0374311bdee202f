// SPDX-License-Identifier: MIT

import SCReachability
import Synchronization
import TestSupport
import Testing

@Suite("A target watcher", .limited)
struct TargetWatcherTests {
    private let queue = DispatchQueue(label: "callbacks of a test")

    private func makeTarget() throws -> SCNetworkReachability {
        try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
    }

    @Test("The deinit of a receiver that was replaced before it was watched may stop the watcher")
    func stopInDeinit() async throws {
        let target = try makeTarget()
        let watcher = TargetWatcher(target, queue: queue)
        let events = Recorder<String>()
        // Called during the first start, so these starts only store what they want.
        setReleaseHook(of: target) {
            #expect(watcher.start(TestReceiver(onEnd: { events.record("second ended") }, onDeinit: watcher.stop)))
            #expect(watcher.start(TestReceiver(onEnd: { events.record("third ended") })))
        }
        #expect(watcher.start(TestReceiver(onEnd: { events.record("first ended") })))
        for event in ["first ended", "second ended", "third ended"] { #expect(await events.next() == event) }
        // The target has no schedule left.
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    }

    @Test("A start does not wait for another start, so a target's hook may wait for a start")
    func startInHook() async throws {
        let target = try makeTarget()
        let watcher = TargetWatcher(target, queue: queue)
        let flags = Recorder<SCNetworkReachabilityFlags>()
        setReleaseHook(of: target) {
            let isStarted = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                #expect(watcher.start(TestReceiver(onFlags: flags.record)))
                isStarted.signal()
            }
            isStarted.wait()
        }
        let ended = Recorder<Void>()
        #expect(watcher.start(TestReceiver(onEnd: { ended.record(()) })))
        await ended.next()
        #expect(await flags.next()?.contains(.reachable) == true)
        watcher.stop()
    }

    @Test("If two threads start a stopped watcher at the same time with ifStopped, one of them starts it")
    func startIfStopped() async throws {
        let rounds = Repetitions.tries
        let watcher = TargetWatcher(try makeTarget(), queue: queue)
        let turns = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let readyThreads = Atomic(0)
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
                    // Spins until both threads run, so that their starts overlap. Ends if the other does not run.
                    readyThreads.add(1, ordering: .relaxed)
                    for _ in 0..<1000 where readyThreads.load(ordering: .relaxed) < round * 2 {}
                    let receiver = TestReceiver(onEnd: { ends.add(1, ordering: .relaxed) })
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

    @Test("A watcher without a target cannot be started, and SCError() returns the cause")
    func noTarget() async throws {
        let watcher = TargetWatcher(nil, queue: queue)
        let status = Recorder<Int>()
        // On a new thread, which has no earlier failure.
        try startThread {
            #expect(SCError() == 0)
            #expect(!watcher.start(TestReceiver()))
            status.record(Int(SCError()))
        }
        #expect(await status.next() == kSCStatusInvalidArgument)
        watcher.stop()
    }
}

private final class TestReceiver: FlagsReceiver {
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

/// Sets a callback whose context calls `body` when it is released: when another callback is set, which is during a
/// start, on its thread.
private func setReleaseHook(of target: SCNetworkReachability, _ body: @escaping @Sendable () -> Void) {
    let hook = ReleaseHook(body)
    var context = SCNetworkReachabilityContext(
        version: 0,
        info: Unmanaged.passUnretained(hook).toOpaque(),
        retain: { UnsafeRawPointer(Unmanaged<ReleaseHook>.fromOpaque($0).retain().toOpaque()) },
        release: { Unmanaged<ReleaseHook>.fromOpaque($0).release() },
        copyDescription: nil)
    withExtendedLifetime(hook) {
        #expect(SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context))
    }
}

private final class ReleaseHook: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}
