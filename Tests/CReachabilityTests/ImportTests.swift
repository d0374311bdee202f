// SPDX-License-Identifier: MIT

import CReachability
import Dispatch
import Glibc
import TestSupport
import Testing

/// The `info` of a context. Counts the context's releases, and keeps the target that the callback was called with.
private final class ContextInfo {
    var releases = 0
    var calledTarget: SCNetworkReachability?
}

private let onQueue = DispatchSpecificKey<Bool>()

@Suite("The C interface imported into Swift", .limited)
struct ImportTests {
    private func makeTarget(_ name: String) throws -> SCNetworkReachability {
        try #require(SCNetworkReachabilityCreateWithName(nil, name))
    }

    /// Sets a callback. Its context is released once, when the target is freed.
    private func setCallback(of target: SCNetworkReachability, _ contextInfo: ContextInfo) {
        var context = CNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(contextInfo).toOpaque()
        context.release = { Unmanaged<ContextInfo>.fromOpaque($0).takeUnretainedValue().releases += 1 }
        let isSet = __SCNetworkReachabilitySetCallback(
            target,
            { target, _, info in
                Unmanaged<ContextInfo>.fromOpaque(info!).takeUnretainedValue().calledTarget = target
            },
            &context)
        #expect(isSet)
    }

    @Test("A target lives while Swift holds it, and is freed once")
    func ownership() throws {
        let contextInfo = ContextInfo()
        var target: SCNetworkReachability? = try makeTarget("127.0.0.1")
        setCallback(of: try #require(target), contextInfo)
        var copies = Array(repeating: target, count: 100)
        target = nil
        copies.removeLast(99)
        #expect(contextInfo.releases == 0)
        var flags: SCNetworkReachabilityFlags = []
        #expect(SCNetworkReachabilityGetFlags(try #require(copies[0]), &flags))
        #expect(flags == [.reachable, .isLocalAddress, .isDirect])
        copies = []
        #expect(contextInfo.releases == 1)
    }

    @Test("A callback's target is borrowed, and lives on if the callback keeps it")
    func borrowed() throws {
        let contextInfo = ContextInfo()
        let loop = try #require(SCRunLoopCreate())
        do {
            // The failed look-up of this name is one callback on every network.
            let target = try makeTarget("host.invalid")
            setCallback(of: target, contextInfo)
            #expect(__SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
            #expect(SCRunLoopPerform(loop, Double(TimeLimit.seconds)) == 1)
            #expect(__SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
        }
        #expect(contextInfo.releases == 0)
        var flags: SCNetworkReachabilityFlags = []
        #expect(SCNetworkReachabilityGetFlags(try #require(contextInfo.calledTarget), &flags))
        contextInfo.calledTarget = nil
        #expect(contextInfo.releases == 1)
    }

    @Test("The target that SCRunLoopCopyNextChange returns is owned by the caller, and released once")
    func copied() throws {
        let contextInfo = ContextInfo()
        let loop = try #require(SCRunLoopCreate())
        #expect(SCRunLoopCopyNextChange(loop, nil) == nil)
        do {
            let target = try makeTarget("host.invalid")
            #expect(__SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
            #expect(SCRunLoopPerform(loop, Double(TimeLimit.seconds)) == 0)
        }
        do {
            let changed = try #require(SCRunLoopCopyNextChange(loop, nil))
            setCallback(of: changed, contextInfo)
            #expect(__SCNetworkReachabilityUnscheduleFromRunLoop(changed, loop, kSCRunLoopDefaultMode))
            #expect(contextInfo.releases == 0)
        }
        #expect(contextInfo.releases == 1)
    }

    @Test("A scheduler can be a dispatch queue")
    func scheduler() throws {
        let queue = DispatchQueue(label: "callbacks")
        let called = DispatchSemaphore(value: 0)
        queue.setSpecific(key: onQueue, value: true)
        // The failed look-up of this name is one callback on every network.
        let target = try makeTarget("host.invalid")
        var context = CNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(called).toOpaque()
        let isSet = __SCNetworkReachabilitySetCallback(
            target,
            { _, _, info in
                guard DispatchQueue.getSpecific(key: onQueue) == true else { return }
                Unmanaged<DispatchSemaphore>.fromOpaque(info!).takeUnretainedValue().signal()
            }, &context)
        #expect(isSet)
        var scheduler = SCNetworkReachabilityScheduler()
        scheduler.info = Unmanaged.passUnretained(queue).toOpaque()
        scheduler.perform = { info, work, argument in
            nonisolated(unsafe) let argument = argument
            Unmanaged<DispatchQueue>.fromOpaque(info!).takeUnretainedValue().async { work(argument) }
        }
        #expect(SCNetworkReachabilitySetScheduler(target, &scheduler))
        #expect(called.wait(timeout: .now() + .seconds(TimeLimit.seconds)) == .success)
        #expect(SCNetworkReachabilitySetScheduler(target, nil))
        queue.sync {}
    }

    @Test("A run loop is a class, too, and ten thousand of them leave no descriptor open")
    func loops() throws {
        for _ in 0..<10_000 {
            let loop = try #require(SCRunLoopCreate())
            let copy = loop
            #expect(SCRunLoopGetFileDescriptor(copy) >= 0)
        }
        // Borrowed: Swift must not release what it has not retained.
        for _ in 0..<1000 { _ = SCRunLoopGetMain() }
        #expect(SCRunLoopGetFileDescriptor(try #require(SCRunLoopGetMain())) >= 0)
    }

    @Test("Flags are an option set with Apple's bits and names")
    func flags() {
        let all: [(SCNetworkReachabilityFlags, UInt32)] = [
            (.transientConnection, 1 << 0), (.reachable, 1 << 1), (.connectionRequired, 1 << 2),
            (.connectionOnTraffic, 1 << 3), (.interventionRequired, 1 << 4), (.connectionOnDemand, 1 << 5),
            (.isLocalAddress, 1 << 16), (.isDirect, 1 << 17), (.isWWAN, 1 << 18), (.connectionAutomatic, 1 << 3),
        ]
        for (flag, bit) in all { #expect(flag.rawValue == bit) }
        #expect(SCNetworkReachabilityFlags([.reachable, .isWWAN]).rawValue == 1 << 1 | 1 << 18)
    }

    @Test("Reasons and interface types are enumerations that also hold unknown values")
    func enumerations() {
        #expect(SCNetworkReachabilityReason.interfaceMissing.rawValue == 13)
        #expect(SCNetworkReachabilityInterfaceType.virtual.rawValue == 7)
        #expect(SCNetworkReachabilityReason(rawValue: 1000)?.rawValue == 1000)
    }

    @Test("SCNetworkReachabilityGetPath fills a path whose size is set")
    func path() throws {
        let target = try makeTarget("127.0.0.1")
        var path = SCNetworkReachabilityPath()
        #expect(SCNetworkReachabilityGetPath(target, &path) == false)
        #expect(SCError() == Int32(__kSCStatusInvalidArgument))
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        #expect(SCNetworkReachabilityGetPath(target, &path))
        #expect(path.reason == .none && path.interfaceType == .loopback && path.interfaceIndex == 1)
    }
}
