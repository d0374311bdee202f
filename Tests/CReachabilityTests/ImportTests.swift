// SPDX-License-Identifier: MIT

import CReachability
import Dispatch
import Glibc
import TestSupport
import Testing

/// Counts the ends of targets, and keeps what a callback was given.
private final class Witness {
    var ends = 0
    var given: SCNetworkReachability?
}

private let onQueue = DispatchSpecificKey<Bool>()

@Suite("The C interface as Swift sees it", .patient)
struct ImportTests {
    private func makeTarget(_ name: String) throws -> SCNetworkReachability {
        try #require(SCNetworkReachabilityCreateWithName(nil, name))
    }

    /// From now on the target's end is counted: its context is released by whoever lets go of it last.
    private func observe(_ target: SCNetworkReachability, _ witness: Witness) {
        var context = CNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(witness).toOpaque()
        context.release = { Unmanaged<Witness>.fromOpaque($0).takeUnretainedValue().ends += 1 }
        let isSet = __SCNetworkReachabilitySetCallback(
            target, { target, _, info in Unmanaged<Witness>.fromOpaque(info!).takeUnretainedValue().given = target },
            &context)
        #expect(isSet)
    }

    @Test("A target lives as long as Swift holds it, and is freed once")
    func ownership() throws {
        let witness = Witness()
        var target: SCNetworkReachability? = try makeTarget("127.0.0.1")
        observe(try #require(target), witness)
        var copies = Array(repeating: target, count: 100)
        target = nil
        copies.removeLast(99)
        #expect(witness.ends == 0)
        var flags: SCNetworkReachabilityFlags = []
        #expect(SCNetworkReachabilityGetFlags(try #require(copies[0]), &flags))
        #expect(flags == [.reachable, .isLocalAddress, .isDirect])
        copies = []
        #expect(witness.ends == 1)
    }

    @Test("What a callback is given is lent: it lives on if it is kept")
    func lent() throws {
        let witness = Witness()
        let loop = try #require(SCRunLoopCreate())
        do {
            // A name has one callback, whatever the network.
            let target = try makeTarget("host.invalid")
            observe(target, witness)
            #expect(__SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
            #expect(SCRunLoopPerform(loop, Double(Patience.seconds)) == 1)
            #expect(__SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
        }
        #expect(witness.ends == 0)
        var flags: SCNetworkReachabilityFlags = []
        #expect(SCNetworkReachabilityGetFlags(try #require(witness.given), &flags))
        witness.given = nil
        #expect(witness.ends == 1)
    }

    @Test("What CopyNextChange gives is ours, and given back once")
    func copied() throws {
        let witness = Witness()
        let loop = try #require(SCRunLoopCreate())
        #expect(SCRunLoopCopyNextChange(loop, nil) == nil)
        do {
            let target = try makeTarget("host.invalid")
            #expect(__SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
            #expect(SCRunLoopPerform(loop, Double(Patience.seconds)) == 0)
        }
        do {
            let changed = try #require(SCRunLoopCopyNextChange(loop, nil))
            observe(changed, witness)
            #expect(__SCNetworkReachabilityUnscheduleFromRunLoop(changed, loop, kSCRunLoopDefaultMode))
            #expect(witness.ends == 0)
        }
        #expect(witness.ends == 1)
    }

    @Test("A scheduler can be a dispatch queue")
    func scheduler() throws {
        let queue = DispatchQueue(label: "callbacks")
        let called = DispatchSemaphore(value: 0)
        queue.setSpecific(key: onQueue, value: true)
        // A name has one callback, whatever the network.
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
        #expect(called.wait(timeout: .now() + .seconds(Patience.seconds)) == .success)
        #expect(SCNetworkReachabilitySetScheduler(target, nil))
        queue.sync {}
    }

    @Test("A loop is a class too: made ten thousand times, it leaves no descriptor behind")
    func loops() throws {
        for _ in 0..<10_000 {
            let loop = try #require(SCRunLoopCreate())
            let copy = loop
            #expect(SCRunLoopGetFileDescriptor(copy) >= 0)
        }
        // Borrowed: nothing is given back that was not taken.
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

    @Test("Reasons and kinds of interface are enumerations, and what is not known yet has a place in them")
    func enumerations() {
        #expect(SCNetworkReachabilityReason.interfaceMissing.rawValue == 13)
        #expect(SCNetworkReachabilityInterfaceType.virtual.rawValue == 7)
        #expect(SCNetworkReachabilityReason(rawValue: 1000)?.rawValue == 1000)
    }

    @Test("A path can be asked for")
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
