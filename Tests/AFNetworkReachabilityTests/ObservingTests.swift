// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import Observation
import TestSupport
import Testing

@Suite("Observing an AFNetworkReachabilityManager", .namespaceInside, .patient)
struct ObservingTests {
    @Test("The Observation framework is told of the status, and of what depends on it")
    func observation() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let changes = Recorder<String>()
        withObservationTracking {
            _ = manager.networkReachabilityStatus
        } onChange: {
            changes.record("status")
        }
        manager.startMonitoring()
        #expect(await changes.next() == "status")
        manager.settle()
        withObservationTracking {
            #expect(manager.isReachableViaWiFi)
        } onChange: {
            changes.record("isReachableViaWiFi")
        }
        try await namespace.ip(.deleteDefault)
        #expect(await changes.next() == "isReachableViaWiFi")
    }

    @Test("A sequence begins with the current status, has each once, and ends with the manager")
    func sequence() async throws {
        let namespace = try await Namespace(.gateway)
        let statuses: AFNetworkReachabilityManager.Statuses
        do {
            let manager = try namespace.manager()
            statuses = manager.statuses
            var first = statuses.makeAsyncIterator()
            #expect(await first.next() == .unknown)
            manager.startMonitoring()
            #expect(await first.next() == .reachableViaWiFi)
            manager.startMonitoring()
            manager.settle()
            var second = statuses.makeAsyncIterator()
            #expect(await second.next() == .reachableViaWiFi)
            try await namespace.ip(.deleteDefault)
            #expect(await first.next() == .notReachable)
            #expect(await second.next() == .notReachable)
            manager.stopMonitoring()
        }
        for await _ in statuses { Issue.record("the manager has ended") }
    }

    @Test("An iterator that lags has the newest status alone")
    func newest() async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.manager()
        let told = manager.record()
        var iterator = manager.statuses.makeAsyncIterator()
        manager.startMonitoring()
        #expect(await told.next() == .notReachable)
        try await namespace.ip(.addDefault)
        #expect(await told.next() == .reachableViaWiFi)
        #expect(await iterator.next() == .reachableViaWiFi)
    }

    @Test("A sequence waits without a manager, ends with the manager, and with its task")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let started = Recorder<Void>()
        let task = Task { [statuses = manager.statuses] in
            for await _ in statuses { started.record(()) }
        }
        await started.next()
        task.cancel()
        await task.value
        var other: AFNetworkReachabilityManager? = try namespace.manager()
        let waiting = Task { [statuses = other?.statuses] in
            guard let statuses else { return }
            for await _ in statuses { started.record(()) }
        }
        await started.next()
        weak let weakOther = other
        other = nil
        await waiting.value
        #expect(weakOther == nil)
    }

    @Test("Observers come and go beside one another; letting go of one ends it")
    func observers() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let told = [Told(), Told(), Told()]
        let kept = manager.addObserver { told[0].record($0) }
        _ = manager.addObserver { told[1].record($0) }
        let cancelled = manager.addObserver { told[2].record($0) }
        manager.startMonitoring()
        #expect(await told[0].next() == .reachableViaWiFi)
        #expect(await told[2].next() == .reachableViaWiFi)
        cancelled.cancel()
        try await namespace.ip(.deleteDefault)
        #expect(await told[0].next() == .notReachable)
        manager.settle()
        #expect(await told[1].rest() == [])
        #expect(await told[2].rest() == [])
        withExtendedLifetime(kept) {}
    }
}
