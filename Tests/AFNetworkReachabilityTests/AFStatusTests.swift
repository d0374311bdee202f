// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

@Suite("Statuses of AFNetworkReachabilityManager", .limited)
struct AFStatusTests {
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

    @Test("The status follows from the flags", arguments: flags)
    func fromFlags(flags: SCNetworkReachabilityFlags, status: AFNetworkReachabilityStatus) {
        #expect(AFNetworkReachabilityStatus(flags) == status)
    }

    @Test("Raw values and names are AFNetworking's")
    func names() {
        let all: [AFNetworkReachabilityStatus] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
        #expect(all.map(\.rawValue) == [-1, 0, 1, 2])
        let name = NSNotification.Name.AFNetworkingReachabilityDidChange
        #expect(name.rawValue == "com.alamofire.networking.reachability.change")
        let item = AFNetworkingReachabilityNotificationStatusItem
        #expect(item == "AFNetworkingReachabilityNotificationStatusItem")
    }

    @Test("Managers are hashed by identity")
    func hashing() {
        let (one, other) = (AFNetworkReachabilityManager(), AFNetworkReachabilityManager())
        #expect(one == one && one != other && Set([one, other, one]).count == 2)
    }

    @Test("The status is unknown before the start, and a stop is allowed then, also twice")
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

    @Test("There is one shared manager, and it is not started")
    func shared() {
        #expect(AFNetworkReachabilityManager.shared() === AFNetworkReachabilityManager.shared())
        #expect(AFNetworkReachabilityManager.shared().networkReachabilityStatus == .unknown)
    }

    private static let hosts: [(String, AFNetworkReachabilityError.Code)] = [
        ("", .emptyHost), ("https://example.com", .schemeInHost), ("example.com/path", .slashInHost),
        ("exa mple.com", .whiteSpaceInHost), ("example.com\n", .whiteSpaceInHost), ("example\0.com", .nulInHost),
        (String(repeating: "a", count: 10_000), .hostTooLong),
    ]

    @Test("init(validating:) throws an error with its own code for each kind of bad host name", arguments: hosts)
    func validation(host: String, code: AFNetworkReachabilityError.Code) throws {
        let error = #expect(throws: AFNetworkReachabilityError.self) {
            try AFNetworkReachabilityManager(validating: host)
        }
        #expect(error?.code == code)
    }

    @Test(
        "init(validating:) accepts host names and address literals",
        arguments: ["localhost", "example.com", "::1", "127.1", "a_b.example"])
    func valid(host: String) throws {
        _ = try AFNetworkReachabilityManager(validating: host)
    }

    @Test("init(validatingAddress:) throws for bytes that are not a complete socket address")
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

    @Test("A text that is not a host name does not trap, nor does an address of another family")
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
        // Only IPv6.
        (
            """
            link add e0 type veth peer name e1
            link set e1 up
            link set e0 up
            address add 2001:db8::2/64 dev e0 nodad
            route add default via 2001:db8::1
            """, .reachableViaWiFi
        ),
        // An IPv4 route with an IPv6 next hop.
        (.subnet + "\nroute add 0.0.0.0/0 via inet6 fe80::1 dev e0", .reachableViaWiFi),
        // A bridge that is up, as on a machine with containers, and no default route.
        (
            .subnet
                + "\nlink add br0 type bridge\nlink set e1 master br0\naddress add 172.17.0.1/16 dev br0\nlink set br0 up",
            .notReachable
        ),
    ]

    @Test("The default path is reachable with a default route of either family", .namespaceInside, arguments: networks)
    func defaultPath(network: String, status: AFNetworkReachabilityStatus) async throws {
        let namespace = try await Namespace(network)
        let manager = try namespace.makeManager()
        let statuses = manager.recordStatuses()
        manager.startMonitoring()
        #expect(await statuses.next() == status)
    }

    @Test("An address literal as a host is that address", .namespaceInside)
    func literal() async throws {
        let namespace = try await Namespace(.subnet)
        for (host, status) in [("10.0.0.9", AFNetworkReachabilityStatus.reachableViaWiFi), ("::1", .reachableViaWiFi)] {
            let manager = try namespace.makeManager(host)
            let statuses = manager.recordStatuses()
            manager.startMonitoring()
            #expect(await statuses.next() == status)
        }
    }
}
