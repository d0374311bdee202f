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

@Suite("NetworkReachabilityManager tells", .namespaceInside, .patient)
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
