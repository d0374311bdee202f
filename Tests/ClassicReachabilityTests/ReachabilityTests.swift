// SPDX-License-Identifier: MIT

import ClassicReachability
import Foundation
import Synchronization
import TestSupport
import Testing

private let onMain = DispatchSpecificKey<Bool>()

@Suite("Statuses of Reachability", .limited)
struct ClassicStatusTests {
    @Test("The status follows from the flags, and a cellular path may count as not reachable")
    func fromFlags() throws {
        let reachability = try #require(Reachability.forInternetConnection())
        let table: [(SCNetworkReachabilityFlags, NetworkStatus)] = [
            ([], .notReachable),
            ([.connectionOnDemand], .notReachable),
            ([.reachable, .connectionRequired], .notReachable),
            ([.reachable, .connectionRequired, .interventionRequired], .notReachable),
            ([.reachable], .reachableViaWiFi),
            ([.reachable, .connectionRequired, .connectionOnDemand], .reachableViaWiFi),
            ([.reachable, .connectionRequired, .connectionOnTraffic], .reachableViaWiFi),
            ([.reachable, .isWWAN], .reachableViaWWAN),
            ([.reachable, .isWWAN, .connectionRequired], .notReachable),
        ]
        for (flags, status) in table { #expect(reachability.status(of: flags) == status) }
        reachability.reachableOnWWAN = false
        #expect(reachability.status(of: [.reachable, .isWWAN]) == .notReachable)
        #expect(reachability.status(of: .reachable) == .reachableViaWiFi)
        let local = try #require(Reachability.forLocalWiFi())
        #expect(local.status(of: .reachable) == .notReachable)
        #expect(local.status(of: [.reachable, .isDirect]) == .reachableViaWiFi)
    }

    @Test("Instances are hashed by identity")
    func hashing() throws {
        let one = try #require(Reachability.forInternetConnection())
        let other = try #require(Reachability.forInternetConnection())
        #expect(one == one && one != other && Set([one, other, one]).count == 2)
    }

    @Test("Raw values are tonymillion's")
    func rawValues() {
        let all: [NetworkStatus] = [.notReachable, .reachableViaWWAN, .reachableViaWiFi]
        #expect(all.map(\.rawValue) == [0, 1, 2])
    }

    @Test("All properties are current without a start", .namespaceInside)
    func properties() async throws {
        let namespace = try await Namespace(.subnet)
        let hosts = try namespace.inside {
            [
                Reachability(hostName: .outside), Reachability(hostname: .outside),
                Reachability(url: URL(string: "https://192.0.2.1:80/path")), .forInternetConnection(),
            ]
        }
        for host in hosts {
            let host = try #require(host)
            #expect(host.currentReachabilityStatus() == .notReachable && !host.isReachable())
            #expect(host.currentReachabilityString() == "No Connection")
        }
        try await namespace.ip(.addDefault)
        for host in hosts {
            let host = try #require(host)
            #expect(host.currentReachabilityStatus() == .reachableViaWiFi && host.isReachable())
            #expect(host.isReachableViaWiFi() && !host.isReachableViaWWAN())
            #expect(!host.connectionRequired() && !host.isConnectionRequired())
            #expect(!host.isConnectionOnDemand() && !host.isInterventionRequired())
            #expect(host.reachabilityFlags() == .reachable && host.currentReachabilityFlags() == "-R -------")
            #expect(host.currentReachabilityString() == "WiFi")
            #expect(host.description.contains("-R -------"))
        }
    }

    @Test("Local Wi-Fi is reachable while an interface has a carrier, with any routes", .namespaceInside)
    func localWiFi() async throws {
        let namespace = try await Namespace(.gateway)
        let local = try namespace.inside { try #require(Reachability.forLocalWiFi()) }
        #expect(local.reachabilityFlags() == [.reachable, .isDirect] && local.isReachableViaWiFi())
        try await namespace.ip("route delete default")
        #expect(local.isReachableViaWiFi())
        try await namespace.ip("link set dev e0 down")
        #expect(local.reachabilityFlags().isEmpty && !local.isReachable())
    }

    @Test("No instance is made from a bad host name, URL or address")
    func bad() {
        let hosts = ["", "https://example.com", "a/b", "a b", "a\0b", String(repeating: "a", count: 10_000)]
        for host in hosts { #expect(Reachability(hostName: host) == nil) }
        #expect(Reachability(url: URL(string: "file:///tmp")) == nil)
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        #expect(Reachability(address: &address) == nil)
        address.sa_family = sa_family_t(AF_INET)
        #expect(Reachability(address: &address) != nil)
        #expect(Reachability(hostName: nil) == nil && Reachability(address: nil) == nil)
    }
}

@Suite("The notifier of Reachability", .namespaceInside, .limited)
struct NotifierTests {
    private func makeInternet(_ namespace: Namespace) throws -> Reachability {
        let internet = try namespace.inside { try #require(Reachability.forInternetConnection()) }
        internet.notificationQueue = DispatchQueue(label: "notifications")
        return internet
    }

    @Test("The start and each change call the two blocks in order, then post both notifications")
    func order() async throws {
        let namespace = try await Namespace(.subnet)
        let internet = try makeInternet(namespace)
        let events = Recorder<String>()
        internet.reachableBlock = { events.record("reachable \($0?.isReachable() == true)") }
        internet.unreachableBlock = { events.record("unreachable \($0?.isReachable() == false)") }
        internet.reachabilityBlock = { events.record("changed \($1.rawValue)") }
        let names: [NSNotification.Name] = [.reachabilityChanged, .networkReachabilityChanged]
        let registrations = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: internet, queue: nil) {
                events.record($0.name.rawValue)
            }
        }
        #expect(internet.startNotifier())
        #expect(internet.startNotifier())
        for event in ["unreachable true", "changed 0"] + names.map(\.rawValue) { #expect(await events.next() == event) }
        try await namespace.ip(.addDefault)
        for event in ["reachable true", "changed 2"] + names.map(\.rawValue) { #expect(await events.next() == event) }
        internet.stopNotifier()
        internet.stopNotifier()
        internet.startNotifier()
        #expect(await events.next() == "reachable true")
        for registration in registrations { NotificationCenter.default.removeObserver(registration) }
    }

    @Test(
        "A name has the status of the default path while it is pending, and is not reachable if it does not exist",
        .nameServer)
    func unresolvable() async throws {
        let namespace = try await Namespace(.loopback)
        let server = try NameServer(in: namespace)
        let host = try namespace.inside { try #require(Reachability(hostName: "host.invalid")) }
        let statuses = Recorder<NetworkStatus>()
        host.reachabilityBlock = { host, _ in host.map { statuses.record($0.currentReachabilityStatus()) } }
        #expect(host.startNotifier())
        await server.waitForRequest()
        #expect(await statuses.next() == .reachableViaWiFi)
        server.sendReplies()
        #expect(await statuses.next() == .notReachable)
    }

    @Test("Notifications come on the main queue unless another is set")
    func mainQueue() async throws {
        DispatchQueue.main.setSpecific(key: onMain, value: true)
        let namespace = try await Namespace(.gateway)
        let host = try namespace.inside { try #require(Reachability(hostName: "localhost")) }
        let isOnMain = Recorder<Bool>()
        let registration = NotificationCenter.default.addObserver(
            forName: .reachabilityChanged, object: host, queue: nil
        ) { _ in isOnMain.record(DispatchQueue.getSpecific(key: onMain) == true) }
        host.startNotifier()
        #expect(await isOnMain.next() == true)
        host.stopNotifier()
        host.notificationQueue = .global()
        host.startNotifier()
        #expect(await isOnMain.next() == false)
        NotificationCenter.default.removeObserver(registration)
    }

    @Test("If a block stops the notifier, the rest of its report is dropped")
    func stopInside() async throws {
        let namespace = try await Namespace(.gateway)
        let internet = try makeInternet(namespace)
        let events = Recorder<String>()
        internet.reachableBlock = {
            $0?.stopNotifier()
            events.record("reachable")
        }
        internet.reachabilityBlock = { _, _ in events.record("changed") }
        let registration = NotificationCenter.default.addObserver(
            forName: .reachabilityChanged, object: internet, queue: nil
        ) { _ in events.record("notification") }
        internet.startNotifier()
        #expect(await events.next() == "reachable")
        internet.reachableBlock = nil
        internet.startNotifier()
        #expect(await events.next() == "changed")
        NotificationCenter.default.removeObserver(registration)
    }

    @Test("An instance ends when it is released, stopped or not, also inside its block")
    func ends() async throws {
        let namespace = try await Namespace(.gateway)
        for stops in [true, false] {
            var internet: Reachability? = try makeInternet(namespace)
            weak let weakInternet = internet
            internet?.startNotifier()
            if stops { internet?.stopNotifier() }
            internet = nil
            try await waitUntil { weakInternet == nil }
        }
        let holder = Recorder<Reachability>()
        let ended = Recorder<Void>()
        do {
            let internet = try makeInternet(namespace)
            holder.record(internet)
            let probe = DeinitProbe(ended)
            internet.reachableBlock = { _ in
                withExtendedLifetime(probe) {}
                Task { _ = await holder.next() }
            }
            internet.startNotifier()
        }
        await ended.next()
    }
}
