// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Lifetime of AFNetworkReachabilityManager", .namespaceInside, .limited)
struct LifetimeTests {
    @Test("A manager ends when it is released, stopped or not, and its target can be scheduled again")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, String.outside)) }
        for stops in [true, false] {
            weak var weakManager: AFNetworkReachabilityManager?
            do {
                let manager = AFNetworkReachabilityManager(reachability: target)
                weakManager = manager
                manager.deliveryQueue = DispatchQueue(label: "deliveries")
                let statuses = manager.recordStatuses()
                #expect(manager.startMonitoring())
                #expect(await statuses.next() == .reachableViaWiFi)
                manager.drainQueues()
                if stops { manager.stopMonitoring() }
            }
            #expect(weakManager == nil)
        }
        // This would fail if the target still had the manager's schedule.
        #expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue(label: "another")))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    }

    @Test("A start fails if the target is scheduled elsewhere, and that schedule goes on")
    func elsewhere() async throws {
        let namespace = try await Namespace(.gateway)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, String.outside)) }
        let managers = (0..<2).map { _ in AFNetworkReachabilityManager(reachability: target) }
        for manager in managers { manager.deliveryQueue = DispatchQueue(label: "deliveries") }
        let statuses = managers[0].recordStatuses()
        #expect(managers[0].startMonitoring())
        #expect(await statuses.next() == .reachableViaWiFi)
        #expect(managers[1].startMonitoring() == false)
        try await namespace.ip(.deleteDefault)
        #expect(await statuses.next() == .notReachable)
        managers[0].stopMonitoring()
        #expect(managers[1].startMonitoring())
    }

    @Test("If the manager ends while a delivery is queued, the notification has no object")
    func endsMeanwhile() async throws {
        let namespace = try await Namespace(.gateway)
        let notifications = Recorder<Int?>()
        let queue = DispatchQueue(label: "deliveries")
        let onQueue = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: onQueue, value: true)
        // Only the notifications on this queue: those of other tests come on other queues.
        let registration = NotificationCenter.default.addObserver(
            forName: .AFNetworkingReachabilityDidChange, object: nil, queue: nil
        ) { notification in
            guard DispatchQueue.getSpecific(key: onQueue) == true else { return }
            let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? NSNumber
            notifications.record(notification.object == nil ? item?.intValue : nil)
        }
        let calls = StatusRecorder()
        do {
            let manager = try namespace.makeManager()
            manager.deliveryQueue = queue
            manager.setReachabilityStatusChange { calls.record($0) }
            queue.suspend()
            manager.startMonitoring()
            AFNetworkReachabilityManager.callbackQueue.sync {}
        }
        queue.resume()
        #expect(await notifications.next() == AFNetworkReachabilityStatus.reachableViaWiFi.rawValue)
        #expect(calls.count == 0)
        NotificationCenter.default.removeObserver(registration)
    }

    @Test("A block may release the last reference to its manager")
    func lastReference() async throws {
        let namespace = try await Namespace(.gateway)
        let ended = Recorder<Void>()
        let box = ManagerBox()
        do {
            let manager = try namespace.makeManager()
            let probe = DeinitProbe(ended)
            manager.setReachabilityStatusChange { _ in
                withExtendedLifetime(probe) {}
                _ = box.take()
            }
            box.put(manager)
        }
        box.start()
        await ended.next()
    }

    private final class ManagerBox: Sendable {
        private let manager = Mutex<AFNetworkReachabilityManager?>(nil)
        func put(_ manager: AFNetworkReachabilityManager) { self.manager.withLock { $0 = manager } }
        func start() { manager.withLock { $0 }?.startMonitoring() }
        func take() -> AFNetworkReachabilityManager? {
            manager.withLock { manager in
                defer { manager = nil }
                return manager
            }
        }
    }

    @Test("Several threads may start, stop and set the block at the same time")
    func threads() async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.makeManager(.outside)
        let flapping = try namespace.flapDefaultRoute()
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for turn in 0..<500 {
                        switch (turn + task) % 4 {
                        case 0: manager.stopMonitoring()
                        case 1: manager.setReachabilityStatusChange { _ in }
                        default: manager.startMonitoring()
                        }
                    }
                }
            }
        }
        let statuses = manager.recordStatuses()
        #expect(manager.startMonitoring())
        #expect(await statuses.next() != nil)
        withExtendedLifetime(flapping) {}
    }
}
