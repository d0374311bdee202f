// SPDX-License-Identifier: MIT

import Foundation
import SCReachability
import TestSupport
import Testing

/// A thread that runs its run loop in one mode.
private final class RunLoopThread: Sendable {
    // Unchecked Sendable: a constant, and CoreFoundation's own lock guards the loop.
    private struct SendableRunLoop: @unchecked Sendable { let runLoop: CFRunLoop }
    private let started = Recorder<SendableRunLoop>()
    private let ended = Recorder<CFRunLoopRunResult>()

    init(mode: CFRunLoopMode) throws {
        try startThread { [started, ended] in
            // The loop does not run in a mode that has neither sources nor timers.
            let keeper = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1")!
            SCNetworkReachabilityScheduleWithRunLoop(keeper, CFRunLoopGetCurrent(), mode.rawValue)
            started.record(SendableRunLoop(runLoop: CFRunLoopGetCurrent()))
            let result = CFRunLoopRunInMode(mode, Double(TimeLimit.seconds), false)
            SCNetworkReachabilityUnscheduleFromRunLoop(keeper, CFRunLoopGetCurrent(), mode.rawValue)
            ended.record(result)
        }
    }

    func runLoop() async throws -> CFRunLoop {
        try #require(await started.next()).runLoop
    }

    /// Stops the loop and waits for its end. The loop must have made a callback: a stop before it runs has no effect.
    func stop(_ runLoop: CFRunLoop) async {
        CFRunLoopStop(runLoop)
        #expect(await ended.next() == .stopped)
    }
}

@Suite("Targets on Foundation's run loops", .limited)
struct RunLoopTests {
    private let customMode = "a custom mode" as CFString

    @Test("A target can be scheduled on another thread's loop in a custom mode", .namespaceInside)
    func anyMode() async throws {
        let namespace = try await Namespace(.subnet)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let recorder = CallbackRecorder()
        #expect(recorder.setCallback(of: target))
        let thread = try RunLoopThread(mode: CFRunLoopMode(customMode))
        let loop = try await thread.runLoop()
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, customMode))
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(await recorder.next() == .reachable)
        try await namespace.ip("route delete default")
        #expect(await recorder.next() == [])
        #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, customMode))
        await thread.stop(loop)
        #expect(await recorder.rest() == [])
    }

    @Test("A loop runs while a target is scheduled on it, and finishes at once otherwise")
    func keepsRunning() async throws {
        let results = Recorder<[CFRunLoopRunResult]>()
        try startThread {
            let target = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1")!
            let mode = CFRunLoopMode.defaultMode!
            var all: [CFRunLoopRunResult] = []
            all.append(CFRunLoopRunInMode(mode, 0.01, false))
            SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode.rawValue)
            all.append(CFRunLoopRunInMode(mode, 0.01, false))
            SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode.rawValue)
            all.append(CFRunLoopRunInMode(mode, 0.01, false))
            results.record(all)
        }
        #expect(await results.next() == [.finished, .timedOut, .finished])
    }

    @Test("A run that makes a callback returns handledSource, and the common modes include the default mode")
    func handledSource() async throws {
        let results = Recorder<CFRunLoopRunResult>()
        let recorder = CallbackRecorder()
        try startThread {
            let target = SCNetworkReachabilityCreateWithName(nil, "host.invalid")!
            _ = recorder.setCallback(of: target)
            let loop = RunLoop.current.getCFRunLoop()!
            SCNetworkReachabilityScheduleWithRunLoop(target, loop, RunLoop.Mode.common.rawValue as CFString)
            results.record(CFRunLoopRunInMode(.defaultMode, Double(TimeLimit.seconds), true))
            SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, CFRunLoopMode.commonModes.rawValue)
        }
        #expect(await recorder.next() != nil)
        #expect(await results.next() == .handledSource)
    }

    @Test("Schedules are counted for each loop and mode, and a queue cannot be set beside them")
    func counted() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        let loop: CFRunLoop = CFRunLoopGetMain()
        let otherMode = "another mode" as CFString
        #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, customMode) == false)
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, customMode))
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, customMode))
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, otherMode))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue(label: "queue")) == false)
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil) == false)
        #expect(Int(SCError()) == kSCStatusInvalidArgument)
        for mode in [customMode, otherMode, customMode] {
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
        }
        for mode in [customMode, otherMode] {
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode) == false)
            #expect(Int(SCError()) == kSCStatusInvalidArgument)
        }
        #expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue(label: "queue")))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    }

    @Test(
        "A target may be scheduled and unscheduled while routes flap and the loop runs, and its context does not leak",
        .namespaceInside)
    func storm() async throws {
        let namespace = try await Namespace(.subnet)
        let flapping = try namespace.flapDefaultRoute()
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let recorder = CallbackRecorder()
        #expect(recorder.setCallback(of: target))
        let thread = try RunLoopThread(mode: CFRunLoopMode(customMode))
        let loop = try await thread.runLoop()
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, customMode))
        for _ in 0..<3 { _ = await recorder.next() }
        #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, customMode))
        for _ in 0..<1000 {
            guard SCNetworkReachabilityScheduleWithRunLoop(target, loop, customMode) else { continue }
            SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, customMode)
        }
        await thread.stop(loop)
        #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        #expect(recorder.retains == recorder.releases)
        withExtendedLifetime(flapping) {}
    }
}
