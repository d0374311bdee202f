// SPDX-License-Identifier: MIT

import Foundation
import SCReachability
import Synchronization
import TestSupport
import Testing

/// A thread that runs its run loop in one mode for as long as there is something on it.
private final class LoopThread: Sendable {
    private struct Loop: @unchecked Sendable { let loop: CFRunLoop }
    private let started: AsyncStream<Loop>
    let ended: AsyncStream<CFRunLoopRunResult>

    init(mode: CFRunLoopMode, until condition: @escaping @Sendable (CFRunLoopRunResult) -> Bool) throws {
        let (started, start) = AsyncStream.makeStream(of: Loop.self)
        let (ended, end) = AsyncStream.makeStream(of: CFRunLoopRunResult.self)
        self.started = started
        self.ended = ended
        try startThread {
            start.yield(Loop(loop: CFRunLoopGetCurrent()))
            var result: CFRunLoopRunResult
            repeat {
                result = CFRunLoopRunInMode(mode, 0.05, false)
            } while !condition(result)
            end.yield(result)
            end.finish()
        }
    }

    func loop() async throws -> CFRunLoop {
        for await loop in started { return loop.loop }
        return try #require(nil)
    }
}

@Suite("Targets on Foundation's run loops", .patient)
struct RunLoopTests {
    private let custom = "a mode of our own" as CFString

    @Test("Any loop in any mode: another thread's, in one that nobody else knows", .namespaceInside)
    func anyMode() async throws {
        let namespace = try await Namespace(.subnet)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let witness = Witness()
        #expect(witness.observe(target))
        let flag = Flag()
        let thread = try LoopThread(mode: CFRunLoopMode(custom)) { _ in flag.isSet }
        let loop = try await thread.loop()
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, custom))
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(await witness.next() == .reachable)
        try await namespace.ip("route delete default")
        #expect(await witness.next() == [])
        #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, custom))
        flag.set()
        for await _ in thread.ended {}
        #expect(await witness.end() == 0)
    }

    @Test("A loop with a target on it goes on running, and has finished without")
    func keepsRunning() async throws {
        let (results, result) = AsyncStream.makeStream(of: [CFRunLoopRunResult].self)
        try startThread {
            let target = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1")!
            let mode = CFRunLoopMode.defaultMode!
            var all: [CFRunLoopRunResult] = []
            all.append(CFRunLoopRunInMode(mode, 0.01, false))
            SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode.rawValue)
            all.append(CFRunLoopRunInMode(mode, 0.01, false))
            SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode.rawValue)
            all.append(CFRunLoopRunInMode(mode, 0.01, false))
            result.yield(all)
        }
        for await all in results {
            #expect(all == [.finished, .timedOut, .finished])
            break
        }
    }

    @Test("A name's callback is a source that a run has handled; common modes include the default one")
    func handledSource() async throws {
        let (results, result) = AsyncStream.makeStream(of: CFRunLoopRunResult.self)
        let witness = Witness()
        try startThread {
            let target = SCNetworkReachabilityCreateWithName(nil, "host.invalid")!
            _ = witness.observe(target)
            let loop = RunLoop.current.getCFRunLoop()!
            SCNetworkReachabilityScheduleWithRunLoop(target, loop, RunLoop.Mode.common.rawValue as CFString)
            result.yield(CFRunLoopRunInMode(.defaultMode, Double(Patience.seconds), true))
            SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, CFRunLoopMode.commonModes.rawValue)
        }
        #expect(await witness.next() != nil)
        for await handled in results {
            #expect(handled == .handledSource)
            break
        }
    }

    @Test("Schedules are counted for each loop and mode, and a queue is refused beside them")
    func counted() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        let loop: CFRunLoop = CFRunLoopGetMain()
        let other = "another mode" as CFString
        #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, custom) == false)
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, custom))
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, custom))
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, other))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue(label: "queue")) == false)
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil) == false)
        #expect(Int(SCError()) == kSCStatusInvalidArgument)
        for mode in [custom, other, custom] {
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
        }
        for mode in [custom, other] {
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode) == false)
            #expect(Int(SCError()) == kSCStatusInvalidArgument)
        }
        #expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue(label: "queue")))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    }

    @Test(
        "Scheduling and unscheduling while routes flap and the loop runs crashes nothing and leaks no context",
        .namespaceInside)
    func storm() async throws {
        let namespace = try await Namespace(.subnet)
        let flapping = try namespace.flap()
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let witness = Witness()
        #expect(witness.observe(target))
        let flag = Flag()
        let thread = try LoopThread(mode: CFRunLoopMode(custom)) { _ in flag.isSet }
        let loop = try await thread.loop()
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, custom))
        for _ in 0..<3 { _ = await witness.next() }
        #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, custom))
        for _ in 0..<1000 {
            guard SCNetworkReachabilityScheduleWithRunLoop(target, loop, custom) else { continue }
            SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, custom)
        }
        flag.set()
        for await _ in thread.ended {}
        #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        #expect(witness.retains == witness.releases)
        withExtendedLifetime(flapping) {}
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
