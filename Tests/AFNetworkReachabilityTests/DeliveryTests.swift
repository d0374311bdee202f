// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

private let onMain = DispatchSpecificKey<Bool>()

@Suite("AFNetworkReachabilityManager delivers", .namespaceInside, .patient)
struct DeliveryTests {
    @Test("The first status at start, offline too, and then each change, once", arguments: [nil, String.outside])
    func changes(host: String?) async throws {
        let namespace = try await Namespace(.subnet)
        let manager = try namespace.manager(host)
        let statuses = manager.record()
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

    @Test("Once when nothing changes: a name's first callback does not repeat the first answer")
    func once() async throws {
        let namespace = try await Namespace(.gateway)
        for host in ["localhost", "127.0.0.1", "10.0.0.2"] {
            let manager = try namespace.manager(host)
            let statuses = manager.record()
            manager.startMonitoring()
            #expect(await statuses.next() == .reachableViaWiFi)
            // What else could come has come when lo's end has been told.
            try await namespace.ip("link set lo down")
            #expect(await statuses.next() == .notReachable)
            try await namespace.ip("link set lo up")
            manager.stopMonitoring()
        }
    }

    @Test("Again at each start, of a host and of the default path", arguments: [nil, "localhost"])
    func restart(host: String?) async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager(host)
        let statuses = manager.record()
        for _ in 0..<3 {
            manager.startMonitoring()
            #expect(await statuses.next() == .reachableViaWiFi)
            manager.stopMonitoring()
            #expect(manager.networkReachabilityStatus == .reachableViaWiFi)
        }
        // Started twice is started anew.
        manager.startMonitoring()
        #expect(await statuses.next() == .reachableViaWiFi)
        manager.startMonitoring()
        #expect(await statuses.next() == .reachableViaWiFi)
    }

    @Test(
        "A slow name server blocks neither starts nor the main queue; a name that there is not ends not reachable",
        .nameServer)
    func unresolvable() async throws {
        let namespace = try await Namespace(.loopback)
        let server = try NameServer(in: namespace)
        let managers = try (0..<200).map { try namespace.manager("host\($0).invalid") }
        let told = managers.map { $0.record() }
        for manager in managers {
            manager.deliveryQueue = .main
            #expect(manager.startMonitoring())
        }
        await server.untilAsked()
        // There is a way for packets, and no answer: had anything waited for one, nothing else would come.
        for told in told { #expect(await told.next() == .reachableViaWiFi) }
        server.answer()
        for told in told { #expect(await told.next() == .notReachable) }
    }

    @Test("On the main queue unless another is chosen")
    func mainQueue() async throws {
        DispatchQueue.main.setSpecific(key: onMain, value: true)
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.inside { AFNetworkReachabilityManager() }
        let places = Recorder<Bool>()
        manager.setReachabilityStatusChange { _ in
            places.record(DispatchQueue.getSpecific(key: onMain) == true)
        }
        manager.startMonitoring()
        #expect(await places.next() == true)
        manager.deliveryQueue = DispatchQueue.global()
        manager.startMonitoring()
        #expect(await places.next() == false)
    }

    @Test("Status, block, observers and notification, in this order, on the chosen queue")
    func order() async throws {
        let chosen = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "chosen", attributes: .concurrent)
        queue.setSpecific(key: chosen, value: true)
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
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

    @Test("Notifications tell managers apart, and carry the status as a number")
    func notifications() async throws {
        let reachable = try await Namespace(.gateway)
        let offline = try await Namespace()
        let managers = [try reachable.manager(), try offline.manager()]
        let told = Recorder<[Int?]>()
        let registrations = managers.enumerated().map { index, manager in
            NotificationCenter.default.addObserver(
                forName: .AFNetworkingReachabilityDidChange, object: manager, queue: nil
            ) { notification in
                let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? NSNumber
                told.record([index, item?.intValue])
            }
        }
        managers[0].startMonitoring()
        #expect(await told.next() == [0, 2])
        managers[1].startMonitoring()
        #expect(await told.next() == [1, 0])
        for registration in registrations { NotificationCenter.default.removeObserver(registration) }
    }

    @Test("A block that was cleared is not called, a new one has no replay")
    func cleared() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let cleared = manager.record()
        manager.setReachabilityStatusChange(nil)
        let observed = Told()
        let observer = manager.addObserver { observed.record($0) }
        manager.startMonitoring()
        #expect(await observed.next() == .reachableViaWiFi)
        let late = manager.record()
        try await namespace.ip(.deleteDefault)
        #expect(await observed.next() == .notReachable)
        #expect(await late.next() == .notReachable)
        #expect(await cleared.rest() == [])
        withExtendedLifetime(observer) {}
    }

    @Test("Nothing after a stop on the delivery queue, not even what was queued")
    func stopped() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let statuses = manager.record()
        let queue = manager.deliveryQueue
        queue.sync {
            #expect(manager.startMonitoring())
            // The first delivery is waiting for this queue by now.
            AFNetworkReachabilityManager.arrivals.sync {}
            manager.stopMonitoring()
        }
        manager.settle()
        #expect(await statuses.rest() == [])
        #expect(manager.networkReachabilityStatus == .unknown)
    }

    @Test("A block may stop: whoever comes after it is not told")
    func stopInside() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let ended = Recorder<Void>()
        let others = Told()
        let observer = manager.addObserver { others.record($0) }
        manager.setReachabilityStatusChange { [weak manager] _ in
            manager?.stopMonitoring()
            ended.record(())
        }
        manager.startMonitoring()
        await ended.next()
        manager.settle()
        #expect(await others.rest() == [])
        withExtendedLifetime(observer) {}
    }

    @Test("A block may start again, and clear itself")
    func restartInside() async throws {
        let namespace = try await Namespace(.gateway)
        let manager = try namespace.manager()
        let statuses = Told()
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
