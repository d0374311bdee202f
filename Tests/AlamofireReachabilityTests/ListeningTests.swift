// SPDX-License-Identifier: MIT

import AlamofireReachability
import Dispatch
import Synchronization
import TestSupport
import Testing

typealias Told = Recorder<NetworkReachabilityManager.NetworkReachabilityStatus>

extension Namespace {
    /// A manager for a host in here; without one, for the default path.
    func manager(_ host: String? = nil) throws -> NetworkReachabilityManager {
        try inside {
            try #require(host.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager())
        }
    }
}

@Suite("NetworkReachabilityManager tells", .namespaceInside, .timeLimit(.minutes(2)))
struct ListeningTests {
    private let queue = DispatchQueue(label: "listener")

    @Test("The first status at each start, offline too, and then each change, once", arguments: [nil, String.outside])
    func changes(host: String?) async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.manager(host)
        let told = Told()
        for _ in 0..<2 {
            #expect(manager.startListening(onQueue: queue) { told.record($0) })
            #expect(await told.next() == .notReachable)
        }
        try await namespace.ip(.addDefault)
        #expect(await told.next() == .reachable(.ethernetOrWiFi))
        try await namespace.ip(.deleteDefault)
        #expect(await told.next() == .notReachable)
        manager.stopListening()
        manager.startListening(onQueue: queue) { told.record($0) }
        #expect(await told.next() == .notReachable)
        manager.stopListening()
        #expect(await told.rest() == [])
    }

    @Test("Version 4's listener is told in the same way, and may be set later", arguments: [nil, "localhost"])
    func version4(host: String?) async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager(host)
        let told = Told()
        manager.listener = { told.record($0) }
        manager.listenerQueue = queue
        #expect(manager.startListening())
        #expect(await told.next() == .reachable(.ethernetOrWiFi))
        let other = Told()
        manager.listener = { other.record($0) }
        try await namespace.ip("link set lo down\nlink set e0 down")
        #expect(await other.next() == .notReachable)
        manager.stopListening()
        #expect(await told.rest() == [])
        manager.listenerQueue = nil
        #expect(manager.startListening() == false)
    }

    @Test("Once when nothing changes: a name's first callback does not repeat the first answer")
    func once() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager("localhost")
        let told = Told()
        manager.startListening(onQueue: queue) { told.record($0) }
        #expect(await told.next() == .reachable(.ethernetOrWiFi))
        try await namespace.ip("link set lo down")
        #expect(await told.next() == .notReachable)
    }

    @Test(
        "A name that there is not ends not reachable, and is as the default path while its server is slow", .nameServer)
    func unresolvable() async throws {
        let namespace = try await Namespace(.loopback)
        let server = try NameServer(in: namespace)
        let manager = try namespace.manager("host.invalid")
        let told = Told()
        #expect(manager.startListening(onQueue: queue) { told.record($0) })
        await server.untilAsked()
        #expect(await told.next() == .reachable(.ethernetOrWiFi))
        server.answer()
        #expect(await told.next() == .notReachable)
        #expect(manager.status == .notReachable)
    }

    @Test("Nothing after a stop on the listener's queue, not even what was queued")
    func stopped() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let told = Told()
        queue.sync {
            #expect(manager.startListening(onQueue: queue) { told.record($0) })
            manager.reachabilityQueue.sync {}
            manager.stopListening()
            manager.stopListening()
        }
        manager.reachabilityQueue.sync {}
        queue.sync {}
        #expect(await told.rest() == [])
    }

    @Test("A listener may stop, start again, and let go of the manager")
    func inside() async throws {
        let namespace = try await Namespace(.gateway)
        let told = Told()
        let box = Box(try namespace.manager())
        box.start(on: queue, told)
        for _ in 0..<3 { #expect(await told.next() == .reachable(.ethernetOrWiFi)) }
        #expect(await told.next() == nil)
        #expect(box.isEmpty)
    }

    @Test("A stopped manager ends; a live one that is let go of tells nothing more")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        for stops in [true, false] {
            let told = Told()
            var manager: NetworkReachabilityManager? = try namespace.manager(.outside)
            weak let weakManager = manager
            manager?.startListening(onQueue: queue) { told.record($0) }
            #expect(await told.next() == .reachable(.ethernetOrWiFi))
            queue.sync {}
            if stops { manager?.stopListening() }
            manager = nil
            #expect(weakManager == nil)
            try await namespace.ip(.deleteDefault + "\n" + .addDefault)
            queue.sync {}
            #expect(await told.rest() == [])
        }
    }

    @Test("Started, stopped and let go of over and over while routes flap: nothing leaks, nothing comes after a stop")
    func storm() async throws {
        let cycles = Repetitions.cycles
        let namespace = try await Namespace(.subnet)
        let anchor = try namespace.manager(.outside)
        let flaps = Told()
        anchor.startListening(onQueue: queue) { flaps.record($0) }
        let flapping = try namespace.flap()
        for _ in 0..<3 { _ = await flaps.next() }
        let ended = Recorder<Void>()
        let lateCalls = Atomic(0)
        try namespace.inside {
            for cycle in 0..<cycles {
                let manager = try #require(NetworkReachabilityManager(host: .outside))
                let canary = Canary(ended)
                manager.startListening(onQueue: queue) { _ in
                    if canary.isStopped { lateCalls.add(1, ordering: .relaxed) }
                }
                switch cycle % 3 {
                case 0: break
                case 1:
                    queue.sync {
                        manager.stopListening()
                        canary.stop()
                    }
                default: queue.async { withExtendedLifetime(manager) {} }
                }
            }
        }
        for _ in 0..<cycles { await ended.next() }
        #expect(lateCalls.load(ordering: .relaxed) == 0)
        anchor.stopListening()
        withExtendedLifetime(flapping) {}
    }

    @Test("A change that races the first answer never leaves an old status behind")
    func race() async throws {
        let tries = Repetitions.tries
        let namespace = try await Namespace(.subnet)
        let changes = try namespace.changes()
        let manager = try namespace.manager(.outside)
        let anchor = try namespace.manager(.outside)
        anchor.startListening(onQueue: queue) { _ in }
        for turn in 0..<tries {
            let told = Told()
            let isUp = turn % 2 == 0
            changes.write((isUp ? .addDefault : .deleteDefault) + "\n")
            for _ in 0..<(turn % 7) { _ = manager.flags }
            manager.startListening(onQueue: queue) { told.record($0) }
            let wanted: NetworkReachabilityManager.NetworkReachabilityStatus =
                isUp ? .reachable(.ethernetOrWiFi) : .notReachable
            while try #require(await told.next()) != wanted {}
            manager.reachabilityQueue.sync {}
            queue.sync {}
            manager.stopListening()
            try #require(await told.rest() == [])
        }
    }
}

/// Counts when it ends, as the listener that holds it.
private final class Canary: Sendable {
    private let ended: Recorder<Void>
    private let stopped = Atomic(false)
    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    init(_ ended: Recorder<Void>) { self.ended = ended }
    deinit { ended.record(()) }

    func stop() { stopped.store(true, ordering: .releasing) }
}

/// Holds a manager whose listener starts it again twice, and then lets go of it.
private final class Box: Sendable {
    private let manager: Mutex<NetworkReachabilityManager?>
    var isEmpty: Bool { manager.withLock { $0 == nil } }

    init(_ manager: NetworkReachabilityManager) { self.manager = Mutex(manager) }

    func start(on queue: DispatchQueue, _ told: Told) {
        let manager = manager.withLock { $0 }
        manager?.startListening(onQueue: queue) { status in
            told.record(status)
            if told.count < 3 {
                self.start(on: queue, told)
            } else {
                _ = self.manager.withLock { manager in
                    defer { manager = nil }
                    return manager
                }
                Task { _ = await told.rest() }
            }
        }
    }
}
