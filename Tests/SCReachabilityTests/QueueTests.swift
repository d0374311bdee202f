// SPDX-License-Identifier: MIT

import SCReachability
import TestSupport
import Testing

private let onQueue = DispatchSpecificKey<Bool>()

@Suite("Targets on dispatch queues", .patient)
struct QueueTests {
    private let queue = DispatchQueue(label: "callbacks")

    init() {
        queue.setSpecific(key: onQueue, value: true)
    }

    @Test("Changes are told on the queue, with the flags of the moment, until nil is set", .namespaceInside)
    func changes() async throws {
        let namespace = try await Namespace(.subnet)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let witness = Witness { _ in #expect(DispatchQueue.getSpecific(key: onQueue) == true) }
        #expect(witness.observe(target))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(await witness.next() == .reachable)
        try await namespace.ip("route delete default")
        #expect(await witness.next() == [])
        queue.sync { _ = SCNetworkReachabilitySetDispatchQueue(target, nil) }
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        #expect(await witness.end() == 0)
    }

    @Test("A queue that is set twice, or ended twice, is refused")
    func refused() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "127.0.0.1"))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil) == false)
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue) == false)
        #expect(Int(SCError()) == kSCStatusInvalidArgument)
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), "mode") == false)
        SCNetworkReachabilitySetDispatchQueue(target, nil)
    }

    @Test("What is retained of a context is released: set, replaced, cleared, freed; with calls in between")
    func balance() async throws {
        let witnesses = [Witness(), Witness(), Witness()]
        do {
            // A name is told once, whatever the network.
            let target = try #require(SCNetworkReachabilityCreateWithName(nil, "host.invalid"))
            #expect(witnesses[0].observe(target))
            #expect(witnesses[1].observe(target))
            #expect(witnesses[0].retains == 1 && witnesses[0].releases == 1)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            _ = await witnesses[1].next()
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
            queue.sync {}
            #expect(witnesses[1].retains == witnesses[1].releases)
            #expect(witnesses[2].observe(target))
            #expect(witnesses[2].releases == 0)
        }
        #expect(witnesses[2].retains == 1 && witnesses[2].releases == 1)
    }

    @Test("A callback may end its schedule, clear itself and let go of the last reference")
    func lastReference() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        do {
            let target = try #require(SCNetworkReachabilityCreateWithName(nil, "host.invalid"))
            let witness = Witness { target in
                #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
                #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
                end.finish()
            }
            #expect(witness.observe(target))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        }
        for await _ in ended {}
    }

    @Test("Setting and ending two thousand times while routes flap crashes nothing", .namespaceInside)
    func storm() async throws {
        let namespace = try await Namespace(.subnet)
        let flapping = try namespace.flap()
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let witness = Witness()
        #expect(witness.observe(target))
        _ = SCNetworkReachabilitySetDispatchQueue(target, queue)
        for _ in 0..<3 { _ = await witness.next() }
        SCNetworkReachabilitySetDispatchQueue(target, nil)
        for _ in 0..<2000 {
            guard SCNetworkReachabilitySetDispatchQueue(target, queue) else { continue }
            SCNetworkReachabilitySetDispatchQueue(target, nil)
        }
        #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        queue.sync {}
        #expect(witness.retains == witness.releases)
        withExtendedLifetime(flapping) {}
    }
}
