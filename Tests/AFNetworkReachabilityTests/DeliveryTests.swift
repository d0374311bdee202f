// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

private let onMain = DispatchSpecificKey<Bool>()

@Suite("Deliveries of AFNetworkReachabilityManager", .namespaceInside, .limited)
struct DeliveryTests {
    @Test(
        "A start delivers the first status, also when offline, and then each change once",
        arguments: [nil, String.outside])
    func changes(host: String?) async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.makeManager(host)
        let statuses = manager.recordStatuses()
        #expect(manager.startMonitoring())
        #expect(await statuses.next() == .notReachable)
        #expect(manager.networkReachabilityStatus == .notReachable && !manager.isReachable)
        try await namespace.ip(.addDefault)
        #expect(await statuses.next() == .reachableViaWiFi)
        #expect(manager.isReachable && manager.isReachableViaWiFi && !manager.isReachableViaWWAN)
        try await namespace.ip(.deleteDefault)
        #expect(await statuses.next() == .notReachable)
        manager.stopMonitoring()
        #expect(await statuses.rest() == [])
    }

    @Test("If nothing changes, a start delivers once: a name's first callback does not repeat the first status")
    func once() async throws {
        let namespace = try await Namespace(.gateway)
        for host in ["localhost", "127.0.0.1", "10.0.0.2"] {
            let manager = try namespace.makeManager(host)
            let statuses = manager.recordStatuses()
            manager.startMonitoring()
            #expect(await statuses.next() == .reachableViaWiFi)
            // A second delivery would come before that of this change.
            try await namespace.ip("link set lo down")
            #expect(await statuses.next() == .notReachable)
            try await namespace.ip("link set lo up")
            manager.stopMonitoring()
        }
    }

    @Test("Each start delivers the status again, for a host and for the default path", arguments: [nil, "localhost"])
    func restart(host: String?) async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager(host)
        let statuses = manager.recordStatuses()
        for _ in 0..<3 {
            manager.startMonitoring()
            #expect(await statuses.next() == .reachableViaWiFi)
            manager.stopMonitoring()
            #expect(manager.networkReachabilityStatus == .reachableViaWiFi)
        }
        // A start without a stop before it is a restart.
        manager.startMonitoring()
        #expect(await statuses.next() == .reachableViaWiFi)
        manager.startMonitoring()
        #expect(await statuses.next() == .reachableViaWiFi)
    }

    @Test(
        "A slow name server blocks neither starts nor the main queue, and a name that does not exist is not reachable",
        .nameServer)
    func unresolvable() async throws {
        let namespace = try await Namespace(.loopback)
        let server = try NameServer(in: namespace)
        let managers = try (0..<200).map { try namespace.makeManager("host\($0).invalid") }
        let recorders = managers.map { $0.recordStatuses() }
        for manager in managers {
            manager.deliveryQueue = .main
            #expect(manager.startMonitoring())
        }
        await server.waitForRequest()
        // These statuses come before any reply, so nothing waits for the server.
        for statuses in recorders { #expect(await statuses.next() == .reachableViaWiFi) }
        server.sendReplies()
        for statuses in recorders { #expect(await statuses.next() == .notReachable) }
    }

    @Test("Deliveries come on the main queue unless another is set")
    func mainQueue() async throws {
        DispatchQueue.main.setSpecific(key: onMain, value: true)
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.inside { AFNetworkReachabilityManager() }
        let isOnMain = Recorder<Bool>()
        manager.setReachabilityStatusChange { _ in
            isOnMain.record(DispatchQueue.getSpecific(key: onMain) == true)
        }
        manager.startMonitoring()
        #expect(await isOnMain.next() == true)
        manager.deliveryQueue = DispatchQueue.global()
        manager.startMonitoring()
        #expect(await isOnMain.next() == false)
    }

    @Test("A delivery sets the status, then calls the block, the observers and the notification, on the chosen queue")
    func order() async throws {
        let chosen = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "chosen", attributes: .concurrent)
        queue.setSpecific(key: chosen, value: true)
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        manager.deliveryQueue = queue
        let events = Recorder<String>()
        @Sendable func record(_ event: String) {
            events.record(DispatchQueue.getSpecific(key: chosen) == true ? event : "\(event) elsewhere")
        }
        manager.setReachabilityStatusChange { [weak manager] status in
            record("block, \(manager?.networkReachabilityStatus == status)")
        }
        let first = manager.addObserver { _ in record("first") }
        let second = manager.addObserver { _ in record("second") }
        let center = NotificationCenter.default
        let registration = center.addObserver(
            forName: .AFNetworkingReachabilityDidChange, object: manager, queue: nil
        ) { _ in record("notification") }
        manager.startMonitoring()
        for event in ["block, true", "first", "second", "notification"] { #expect(await events.next() == event) }
        second.cancel()
        try await namespace.ip(.deleteDefault)
        for event in ["block, true", "first", "notification"] { #expect(await events.next() == event) }
        center.removeObserver(registration)
        withExtendedLifetime(first) {}
    }

    @Test("A notification has its manager as the object, and the status as a number")
    func notifications() async throws {
        let reachable = try await Namespace(.gateway)
        let offline = try await Namespace()
        let managers = [try reachable.makeManager(), try offline.makeManager()]
        let notifications = Recorder<[Int?]>()
        let registrations = managers.enumerated().map { index, manager in
            NotificationCenter.default.addObserver(
                forName: .AFNetworkingReachabilityDidChange, object: manager, queue: nil
            ) { notification in
                let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? NSNumber
                notifications.record([index, item?.intValue])
            }
        }
        managers[0].startMonitoring()
        #expect(await notifications.next() == [0, 2])
        managers[1].startMonitoring()
        #expect(await notifications.next() == [1, 0])
        for registration in registrations { NotificationCenter.default.removeObserver(registration) }
    }

    @Test("A cleared block is not called, and a new block is not called with an earlier status")
    func cleared() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let cleared = manager.recordStatuses()
        manager.setReachabilityStatusChange(nil)
        let observed = StatusRecorder()
        let observer = manager.addObserver { observed.record($0) }
        manager.startMonitoring()
        #expect(await observed.next() == .reachableViaWiFi)
        let late = manager.recordStatuses()
        try await namespace.ip(.deleteDefault)
        #expect(await observed.next() == .notReachable)
        #expect(await late.next() == .notReachable)
        #expect(await cleared.rest() == [])
        withExtendedLifetime(observer) {}
    }

    @Test("A stop on the delivery queue drops the queued deliveries")
    func stopped() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let statuses = manager.recordStatuses()
        let queue = manager.deliveryQueue
        queue.sync {
            #expect(manager.startMonitoring())
            // After this, the first delivery waits for the delivery queue.
            AFNetworkReachabilityManager.callbackQueue.sync {}
            manager.stopMonitoring()
        }
        manager.drainQueues()
        #expect(await statuses.rest() == [])
        #expect(manager.networkReachabilityStatus == .unknown)
    }

    @Test(
        "A block may stop its manager: observers are not called, and the notification of its delivery is still posted")
    func stopInside() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let ended = Recorder<Void>()
        let others = StatusRecorder()
        let observer = manager.addObserver { others.record($0) }
        let posted = Recorder<Void>()
        let token = NotificationCenter.default.addObserver(
            forName: .AFNetworkingReachabilityDidChange, object: manager, queue: nil
        ) { _ in posted.record(()) }
        manager.setReachabilityStatusChange { [weak manager] _ in
            manager?.stopMonitoring()
            ended.record(())
        }
        manager.startMonitoring()
        await ended.next()
        manager.drainQueues()
        #expect(await others.rest() == [])
        #expect(await posted.rest().count == 1)
        NotificationCenter.default.removeObserver(token)
        withExtendedLifetime(observer) {}
    }

    @Test("A block may start its manager again, and clear itself")
    func restartInside() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.makeManager()
        let statuses = StatusRecorder()
        manager.setReachabilityStatusChange { [weak manager] status in
            statuses.record(status)
            if statuses.count == 3 { manager?.setReachabilityStatusChange(nil) }
            manager?.startMonitoring()
        }
        manager.startMonitoring()
        for _ in 0..<3 { #expect(await statuses.next() == .reachableViaWiFi) }
        manager.stopMonitoring()
        #expect(await statuses.rest() == [])
    }
}
