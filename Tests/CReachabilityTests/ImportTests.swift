// SPDX-License-Identifier: MIT

import CReachability
import Glibc
import Testing

/// Counts what a target's context is asked for.
private final class Counter {
    var releases = 0
}

@Suite("The C interface as Swift sees it")
struct ImportTests {
    /// A target whose end is counted: its context is released by whoever lets go of it last.
    private func makeTarget(_ counter: Counter) throws -> SCNetworkReachability {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        var context = CNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(counter).toOpaque()
        context.release = { Unmanaged<Counter>.fromOpaque($0).takeUnretainedValue().releases += 1 }
        #expect(__SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context))
        return target
    }

    @Test("A target lives as long as Swift holds it, and is freed once")
    func ownership() throws {
        let counter = Counter()
        var target: SCNetworkReachability? = try makeTarget(counter)
        var copies = Array(repeating: target, count: 100)
        target = nil
        copies.removeLast(99)
        #expect(counter.releases == 0)
        var flags: SCNetworkReachabilityFlags = []
        #expect(SCNetworkReachabilityGetFlags(try #require(copies[0]), &flags))
        #expect(flags == [.reachable, .isLocalAddress, .isDirect])
        copies = []
        #expect(counter.releases == 1)
    }

    @Test("What a callback is given may be kept, and what CopyNextChange gives is released")
    func borrowed() throws {
        let counter = Counter()
        let loop = try #require(SCRunLoopCreate())
        #expect(SCRunLoopCopyNextChange(loop, nil) == nil)
        do {
            let target = try makeTarget(counter)
            #expect(__SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
            #expect(SCRunLoopPerform(loop, 0) == 0)
            #expect(__SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
            #expect(counter.releases == 0)
        }
        #expect(counter.releases == 1)
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
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        var path = SCNetworkReachabilityPath()
        #expect(SCNetworkReachabilityGetPath(target, &path) == false)
        #expect(SCError() == Int32(__kSCStatusInvalidArgument))
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        #expect(SCNetworkReachabilityGetPath(target, &path))
        #expect(path.reason == .none && path.interfaceType == .loopback && path.interfaceIndex == 1)
    }
}
