// SPDX-License-Identifier: MIT

import AlamofireReachability
import Dispatch
import Synchronization
import TestSupport
import Testing

typealias StatusRecorder = Recorder<NetworkReachabilityManager.NetworkReachabilityStatus>

extension Namespace {
    /// Makes a manager of a host, or with nil of the default path, in this namespace.
    func makeManager(_ host: String? = nil) throws -> NetworkReachabilityManager {
        try inside {
            try #require(host.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager())
        }
    }
}

@Suite("Listeners of NetworkReachabilityManager", .namespaceInside, .limited)
struct ListeningTests {
    private let queue = DispatchQueue(label: "listener")

    @Test(
        "A start reports the first status, also when offline, and then each change once",
        arguments: [nil, String.outside])
    func changes(host: String?) async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.makeManager(host)
        let statuses = StatusRecorder()
        for _ in 0..<2 {
            #expect(manager.startListening(onQueue: queue) { statuses.record($0) })
            #expect(await statuses.next() == .notReachable)
        }
        try await namespace.ip(.addDefault)
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        try await namespace.ip(.deleteDefault)
        #expect(await statuses.next() == .notReachable)
        manager.stopListening()
        manager.startListening(onQueue: queue) { statuses.record($0) }
        #expect(await statuses.next() == .notReachable)
        manager.stopListening()
        #expect(await statuses.rest() == [])
    }

    @Test("Version 4's listener gets the same statuses, and may be set after the start", arguments: [nil, "localhost"])
    func version4(host: String?) async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager(host)
        let statuses = StatusRecorder()
        manager.listener = { statuses.record($0) }
        manager.listenerQueue = queue
        #expect(manager.startListening())
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        let other = StatusRecorder()
        manager.listener = { other.record($0) }
        try await namespace.ip("link set lo down\nlink set e0 down")
        #expect(await other.next() == .notReachable)
        manager.stopListening()
        #expect(await statuses.rest() == [])
        manager.listenerQueue = nil
        #expect(manager.startListening() == false)
    }

    @Test("If nothing changes, a start reports once: a name's first callback does not repeat the first status")
    func once() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager("localhost")
        let statuses = StatusRecorder()
        manager.startListening(onQueue: queue) { statuses.record($0) }
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        try await namespace.ip("link set lo down")
        #expect(await statuses.next() == .notReachable)
    }

    @Test(
        "A name has the status of the default path while it is pending, and is not reachable if it does not exist",
        .nameServer)
    func unresolvable() async throws {
        let namespace = try await Namespace(.loopback)
        let server = try NameServer(in: namespace)
        let manager = try namespace.makeManager("host.invalid")
        let statuses = StatusRecorder()
        #expect(manager.startListening(onQueue: queue) { statuses.record($0) })
        await server.waitForRequest()
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        server.sendReplies()
        #expect(await statuses.next() == .notReachable)
        #expect(manager.status == .notReachable)
    }

    @Test("A stop on the listener's queue drops the queued calls")
    func stopped() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let statuses = StatusRecorder()
        queue.sync {
            #expect(manager.startListening(onQueue: queue) { statuses.record($0) })
            manager.reachabilityQueue.sync {}
            manager.stopListening()
            manager.stopListening()
        }
        manager.reachabilityQueue.sync {}
        queue.sync {}
        #expect(await statuses.rest() == [])
    }

    @Test("A listener may start its manager again, and release it")
    func inside() async throws {
        let namespace = try await Namespace(.gateway)
        let statuses = StatusRecorder()
        let restarter = Restarter(try namespace.makeManager())
        restarter.start(on: queue, statuses)
        for _ in 0..<3 { #expect(await statuses.next() == .reachable(.ethernetOrWiFi)) }
        #expect(await statuses.next() == nil)
        #expect(restarter.isReleased)
    }

    @Test("A manager ends when it is released, stopped or not, and then reports nothing")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        for stops in [true, false] {
            let statuses = StatusRecorder()
            var manager: NetworkReachabilityManager? = try namespace.makeManager(.outside)
            weak let weakManager = manager
            manager?.startListening(onQueue: queue) { statuses.record($0) }
            #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
            queue.sync {}
            if stops { manager?.stopListening() }
            manager = nil
            #expect(weakManager == nil)
            try await namespace.ip(.deleteDefault + "\n" + .addDefault)
            queue.sync {}
            #expect(await statuses.rest() == [])
        }
    }
}

/// Holds a manager. Its listener starts the manager again twice, and then releases it.
private final class Restarter: Sendable {
    private let manager: Mutex<NetworkReachabilityManager?>
    var isReleased: Bool { manager.withLock { $0 == nil } }

    init(_ manager: NetworkReachabilityManager) { self.manager = Mutex(manager) }

    func start(on queue: DispatchQueue, _ statuses: StatusRecorder) {
        let manager = manager.withLock { $0 }
        manager?.startListening(onQueue: queue) { status in
            statuses.record(status)
            if statuses.count < 3 {
                self.start(on: queue, statuses)
            } else {
                _ = self.manager.withLock { manager in
                    defer { manager = nil }
                    return manager
                }
                Task { _ = await statuses.rest() }
            }
        }
    }
}
