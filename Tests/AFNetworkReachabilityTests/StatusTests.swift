// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

@Suite("AFNetworkReachabilityManager's statuses", .patient)
struct StatusTests {
    private static let flags: [(SCNetworkReachabilityFlags, AFNetworkReachabilityStatus)] = [
        ([], .notReachable),
        ([.connectionOnDemand], .notReachable),
        ([.reachable, .connectionRequired], .notReachable),
        ([.reachable, .connectionRequired, .interventionRequired], .notReachable),
        ([.reachable, .connectionRequired, .connectionOnDemand, .interventionRequired], .notReachable),
        ([.reachable], .reachableViaWiFi),
        ([.reachable, .connectionRequired, .connectionOnDemand], .reachableViaWiFi),
        ([.reachable, .connectionRequired, .connectionOnTraffic], .reachableViaWiFi),
        ([.reachable, .isWWAN], .reachableViaWWAN),
        ([.reachable, .isWWAN, .connectionRequired], .notReachable),
        ([.isWWAN], .notReachable),
    ]

    @Test("Follow from the flags", arguments: flags)
    func fromFlags(flags: SCNetworkReachabilityFlags, status: AFNetworkReachabilityStatus) {
        #expect(AFNetworkReachabilityStatus(flags) == status)
    }

    @Test("Have AFNetworking's raw values, and its names")
    func names() {
        let all: [AFNetworkReachabilityStatus] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
        #expect(all.map(\.rawValue) == [-1, 0, 1, 2])
        let name = NSNotification.Name.AFNetworkingReachabilityDidChange
        #expect(name.rawValue == "com.alamofire.networking.reachability.change")
        let item = AFNetworkingReachabilityNotificationStatusItem
        #expect(item == "AFNetworkingReachabilityNotificationStatusItem")
    }

    @Test("Are unknown before the start; stopping is safe then, and twice")
    func unknown() {
        var zero = sockaddr_in()
        zero.sin_family = sa_family_t(AF_INET)
        let managers = [
            AFNetworkReachabilityManager(), AFNetworkReachabilityManager(forDomain: "localhost"),
            AFNetworkReachabilityManager(forAddress: &zero),
        ]
        for manager in managers {
            for _ in 0..<2 {
                #expect(manager.networkReachabilityStatus == .unknown)
                #expect(!manager.isReachable && !manager.isReachableViaWiFi && !manager.isReachableViaWWAN)
                manager.stopMonitoring()
            }
        }
    }

    @Test("The shared manager is one, and not started")
    func shared() {
        #expect(AFNetworkReachabilityManager.shared() === AFNetworkReachabilityManager.shared())
        #expect(AFNetworkReachabilityManager.shared().networkReachabilityStatus == .unknown)
    }

    private static let hosts: [(String, AFNetworkReachabilityError.Code)] = [
        ("", .emptyHost), ("https://example.com", .schemeInHost), ("example.com/path", .slashInHost),
        ("exa mple.com", .whiteSpaceInHost), ("example.com\n", .whiteSpaceInHost), ("example\0.com", .nulInHost),
        (String(repeating: "a", count: 10_000), .hostTooLong),
    ]

    @Test("A host's name is looked at first where that is asked for", arguments: hosts)
    func validation(host: String, code: AFNetworkReachabilityError.Code) throws {
        let error = #expect(throws: AFNetworkReachabilityError.self) {
            try AFNetworkReachabilityManager(validating: host)
        }
        #expect(error?.code == code)
    }

    @Test("What is a host's name passes", arguments: ["localhost", "example.com", "::1", "127.1", "a_b.example"])
    func valid(host: String) throws {
        _ = try AFNetworkReachabilityManager(validating: host)
    }

    @Test("The bytes of an address are looked at")
    func addresses() throws {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        _ = try withUnsafeBytes(of: &address) { try AFNetworkReachabilityManager(validatingAddress: $0) }
        for wrong in [
            [], [1], [UInt8](repeating: 0, count: 28), [2, 0, 0, 0], [10, 0] + [UInt8](repeating: 0, count: 20),
        ] {
            let error = #expect(throws: AFNetworkReachabilityError.self) {
                try wrong.withUnsafeBytes { try AFNetworkReachabilityManager(validatingAddress: $0) }
            }
            #expect(error?.code == .badAddress)
        }
    }

    @Test("A text that is no name, or an address of another family, traps nothing")
    func nothingTraps() async throws {
        for host in ["a\0b", String(repeating: "a", count: 10_000), "https://x", " "] {
            let manager = AFNetworkReachabilityManager(forDomain: host)
            manager.deliveryQueue = .global()
            #expect(manager.startMonitoring())
            manager.stopMonitoring()
        }
        var other = sockaddr()
        other.sa_family = sa_family_t(AF_UNIX)
        let manager = AFNetworkReachabilityManager(forAddress: &other)
        #expect(manager.startMonitoring() == false)
        #expect(manager.networkReachabilityStatus == .unknown)
    }

    private static let networks: [(String, AFNetworkReachabilityStatus)] = [
        ("link set lo up", .notReachable),
        (.gateway, .reachableViaWiFi),
        // IPv6 alone.
        (
            """
            link add e0 type veth peer name e1
            link set e1 up
            link set e0 up
            address add 2001:db8::2/64 dev e0 nodad
            route add default via 2001:db8::1
            """, .reachableViaWiFi
        ),
        // IPv4 over a next hop of IPv6.
        (.subnet + "\nroute add 0.0.0.0/0 via inet6 fe80::1 dev e0", .reachableViaWiFi),
        // A bridge that is up, as a machine with containers has one, and no way out.
        (
            .subnet
                + "\nlink add br0 type bridge\nlink set e1 master br0\naddress add 172.17.0.1/16 dev br0\nlink set br0 up",
            .notReachable
        ),
    ]

    @Test("The default path is that of either family", .namespaceInside, arguments: networks)
    func defaultPath(network: String, status: AFNetworkReachabilityStatus) async throws {
        let namespace = try await Namespace(network)
        let manager = try namespace.manager()
        let statuses = manager.record()
        manager.startMonitoring()
        #expect(await statuses.next() == status)
    }

    @Test("An address literal as host is that address", .namespaceInside)
    func literal() async throws {
        let namespace = try await Namespace(.subnet)
        for (host, status) in [("10.0.0.9", AFNetworkReachabilityStatus.reachableViaWiFi), ("::1", .reachableViaWiFi)] {
            let manager = try namespace.manager(host)
            let statuses = manager.record()
            manager.startMonitoring()
            #expect(await statuses.next() == status)
        }
    }
}
