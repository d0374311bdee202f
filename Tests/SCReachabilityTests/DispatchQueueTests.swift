// SPDX-License-Identifier: MIT

import SCReachability
import TestSupport
import Testing

private let onQueue = DispatchSpecificKey<Bool>()

@Suite("Targets on dispatch queues", .limited)
struct DispatchQueueTests {
    private let queue = DispatchQueue(label: "callbacks")

    init() {
        queue.setSpecific(key: onQueue, value: true)
    }

    @Test("Changes are reported on the queue with the current flags, until nil is set", .namespaceInside)
    func changes() async throws {
        let namespace = try await Namespace(.subnet)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let recorder = CallbackRecorder { _ in #expect(DispatchQueue.getSpecific(key: onQueue) == true) }
        #expect(recorder.setCallback(of: target))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(await recorder.next() == .reachable)
        try await namespace.ip("route delete default")
        #expect(await recorder.next() == [])
        queue.sync { _ = SCNetworkReachabilitySetDispatchQueue(target, nil) }
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        #expect(await recorder.rest() == [])
    }

    @Test("Setting a second queue, or ending a schedule twice, fails")
    func refused() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "127.0.0.1"))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil) == false)
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, queue) == false)
        #expect(Int(SCError()) == kSCStatusInvalidArgument)
        #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), "mode") == false)
        SCNetworkReachabilitySetDispatchQueue(target, nil)
    }

    @Test("Retains and releases of a context balance when it is set, replaced, called, cleared and freed")
    func balance() async throws {
        let recorders = [CallbackRecorder(), CallbackRecorder(), CallbackRecorder()]
        do {
            // The failed look-up of this name is one callback on every network.
            let target = try #require(SCNetworkReachabilityCreateWithName(nil, "host.invalid"))
            #expect(recorders[0].setCallback(of: target))
            #expect(recorders[1].setCallback(of: target))
            #expect(recorders[0].retains == 1 && recorders[0].releases == 1)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            _ = await recorders[1].next()
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
            queue.sync {}
            #expect(recorders[1].retains == recorders[1].releases)
            #expect(recorders[2].setCallback(of: target))
            #expect(recorders[2].releases == 0)
        }
        #expect(recorders[2].retains == 1 && recorders[2].releases == 1)
    }

    @Test("A callback may end its schedule, clear itself and release the last reference to its target")
    func lastReference() async throws {
        let ended = Recorder<Void>()
        do {
            let target = try #require(SCNetworkReachabilityCreateWithName(nil, "host.invalid"))
            let recorder = CallbackRecorder { target in
                #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
                #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
                ended.record(())
            }
            #expect(recorder.setCallback(of: target))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        }
        await ended.next()
    }

    @Test("A queue may be set and ended two thousand times while routes flap", .namespaceInside)
    func storm() async throws {
        let namespace = try await Namespace(.subnet)
        let flapping = try namespace.flapDefaultRoute()
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, "192.0.2.1")) }
        let recorder = CallbackRecorder()
        #expect(recorder.setCallback(of: target))
        _ = SCNetworkReachabilitySetDispatchQueue(target, queue)
        for _ in 0..<3 { _ = await recorder.next() }
        SCNetworkReachabilitySetDispatchQueue(target, nil)
        for _ in 0..<2000 {
            guard SCNetworkReachabilitySetDispatchQueue(target, queue) else { continue }
            SCNetworkReachabilitySetDispatchQueue(target, nil)
        }
        #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        queue.sync {}
        #expect(recorder.retains == recorder.releases)
        withExtendedLifetime(flapping) {}
    }
}
