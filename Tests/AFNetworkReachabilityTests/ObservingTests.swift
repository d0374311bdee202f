// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import Observation
import TestSupport
import Testing

@Suite("Observers of AFNetworkReachabilityManager", .namespaceInside, .limited)
struct ObservingTests {
    @Test("The Observation framework is notified of the status and of the properties that depend on it")
    func observation() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let changes = Recorder<String>()
        withObservationTracking {
            _ = manager.networkReachabilityStatus
        } onChange: {
            changes.record("status")
        }
        manager.startMonitoring()
        #expect(await changes.next() == "status")
        manager.drainQueues()
        withObservationTracking {
            #expect(manager.isReachableViaWiFi)
        } onChange: {
            changes.record("isReachableViaWiFi")
        }
        try await namespace.ip(.deleteDefault)
        #expect(await changes.next() == "isReachableViaWiFi")
    }

    @Test("A sequence begins with the current status, has no repeated status, and ends with the manager")
    func sequence() async throws {
        let namespace = try await Namespace(.gateway)
        let statuses: AFNetworkReachabilityManager.Statuses
        do {
            let manager = try namespace.makeManager()
            statuses = manager.statuses
            var first = statuses.makeAsyncIterator()
            #expect(await first.next() == .unknown)
            manager.startMonitoring()
            #expect(await first.next() == .reachableViaWiFi)
            manager.startMonitoring()
            manager.drainQueues()
            var second = statuses.makeAsyncIterator()
            #expect(await second.next() == .reachableViaWiFi)
            try await namespace.ip(.deleteDefault)
            #expect(await first.next() == .notReachable)
            #expect(await second.next() == .notReachable)
            manager.stopMonitoring()
            // A delivery that has begun holds the manager.
            manager.drainQueues()
        }
        for await _ in statuses { Issue.record("the manager has ended") }
    }

    @Test("A slow iterator gets only the newest status")
    func newest() async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.makeManager()
        let statuses = manager.recordStatuses()
        var iterator = manager.statuses.makeAsyncIterator()
        manager.startMonitoring()
        #expect(await statuses.next() == .notReachable)
        try await namespace.ip(.addDefault)
        #expect(await statuses.next() == .reachableViaWiFi)
        #expect(await iterator.next() == .reachableViaWiFi)
    }

    @Test("A sequence does not keep its manager, and ends with the manager or with its task")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let started = Recorder<Void>()
        let task = Task { [statuses = manager.statuses] in
            for await _ in statuses { started.record(()) }
        }
        await started.next()
        task.cancel()
        await task.value
        var other: AFNetworkReachabilityManager? = try namespace.makeManager()
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

    @Test("A task can be cancelled while a status is delivered to its sequence")
    func cancelledDuringDelivery() async throws {
        for turn in 0..<20 {
            let registry = ObserverRegistry()
            let stream = registry.makeStream { .unknown }
            let received = Recorder<Void>()
            let task = Task.detached { for await _ in stream { received.record(()) } }
            await received.next()
            let isDelivered = Recorder<Void>()
            try startThread {
                registry.notify(.notReachable) {
                    DispatchQueue.global().async { task.cancel() }
                    while !task.isCancelled { sched_yield() }
                    // Varies how far the cancellation is.
                    let end = ContinuousClock.now + .microseconds(50 * turn)
                    while ContinuousClock.now < end { sched_yield() }
                    return false
                }
                isDelivered.record(())
            }
            await isDelivered.next()
            await task.value
        }
    }

    @Test("Observers are independent, and one ends when it is cancelled or released")
    func observers() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let keptStatuses = StatusRecorder()
        let releasedStatuses = StatusRecorder()
        let cancelledStatuses = StatusRecorder()
        let kept = manager.addObserver { keptStatuses.record($0) }
        _ = manager.addObserver { releasedStatuses.record($0) }
        let cancelled = manager.addObserver { cancelledStatuses.record($0) }
        manager.startMonitoring()
        #expect(await keptStatuses.next() == .reachableViaWiFi)
        #expect(await cancelledStatuses.next() == .reachableViaWiFi)
        cancelled.cancel()
        try await namespace.ip(.deleteDefault)
        #expect(await keptStatuses.next() == .notReachable)
        manager.drainQueues()
        #expect(await releasedStatuses.rest() == [])
        #expect(await cancelledStatuses.rest() == [])
        withExtendedLifetime(kept) {}
    }
}
