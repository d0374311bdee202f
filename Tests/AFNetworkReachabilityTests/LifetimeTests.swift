// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("AFNetworkReachabilityManager's life", .namespaceInside, .patient)
struct LifetimeTests {
    @Test("A stopped manager ends; a live one that is let go of ends too, and its target can be watched anew")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, String.outside)) }
        for stops in [true, false] {
            weak var weakManager: AFNetworkReachabilityManager?
            do {
                let manager = AFNetworkReachabilityManager(reachability: target)
                weakManager = manager
                manager.deliveryQueue = DispatchQueue(label: "deliveries")
                let told = manager.record()
                #expect(manager.startMonitoring())
                #expect(await told.next() == .reachableViaWiFi)
                manager.settle()
                if stops { manager.stopMonitoring() }
            }
            #expect(weakManager == nil)
        }
        // Had the schedule been left behind, it would be refused.
        #expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue(label: "another")))
        #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
    }

    @Test("A target that is scheduled elsewhere is refused, and keeps what it has")
    func elsewhere() async throws {
        let namespace = try await Namespace(.gateway)
        let target = try namespace.inside { try #require(SCNetworkReachabilityCreateWithName(nil, String.outside)) }
        let managers = (0..<2).map { _ in AFNetworkReachabilityManager(reachability: target) }
        for manager in managers { manager.deliveryQueue = DispatchQueue(label: "deliveries") }
        let told = managers[0].record()
        #expect(managers[0].startMonitoring())
        #expect(await told.next() == .reachableViaWiFi)
        #expect(managers[1].startMonitoring() == false)
        try await namespace.ip(.deleteDefault)
        #expect(await told.next() == .notReachable)
        managers[0].stopMonitoring()
        #expect(managers[1].startMonitoring())
    }

    @Test("When the manager ends with a delivery on its way, the notification has no object")
    func endsMeanwhile() async throws {
        let namespace = try await Namespace(.gateway)
        let told = Recorder<Int?>()
        let queue = DispatchQueue(label: "deliveries")
        let onQueue = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: onQueue, value: true)
        // Other tests let managers end so, too: their notifications come on queues of theirs.
        let registration = NotificationCenter.default.addObserver(
            forName: .AFNetworkingReachabilityDidChange, object: nil, queue: nil
        ) { notification in
            guard DispatchQueue.getSpecific(key: onQueue) == true else { return }
            let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? NSNumber
            told.record(notification.object == nil ? item?.intValue : nil)
        }
        let calls = Told()
        do {
            let manager = try namespace.manager()
            manager.deliveryQueue = queue
            manager.setReachabilityStatusChange { calls.record($0) }
            queue.suspend()
            manager.startMonitoring()
            AFNetworkReachabilityManager.arrivals.sync {}
        }
        queue.resume()
        #expect(await told.next() == AFNetworkReachabilityStatus.reachableViaWiFi.rawValue)
        #expect(calls.count == 0)
        NotificationCenter.default.removeObserver(registration)
    }

    @Test("The last reference may be let go of inside the block")
    func lastReference() async throws {
        let namespace = try await Namespace(.gateway)
        let ended = Recorder<Void>()
        let box = Box()
        do {
            let manager = try namespace.manager()
            let canary = Canary(ended)
            manager.setReachabilityStatusChange { _ in
                withExtendedLifetime(canary) {}
                _ = box.take()
            }
            box.put(manager)
        }
        box.start()
        await ended.next()
    }

    private final class Box: Sendable {
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

    @Test("Started, stopped and set from several threads at once")
    func threads() async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.manager(.outside)
        let flapping = try namespace.flap()
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
        let told = manager.record()
        #expect(manager.startMonitoring())
        #expect(await told.next() != nil)
        withExtendedLifetime(flapping) {}
    }
}
