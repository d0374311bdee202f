// SPDX-License-Identifier: MIT

import AlamofireReachability
import TestSupport
import Testing

private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

@Suite("Statuses of NetworkReachabilityManager", .limited)
struct AlamofireStatusTests {
    private static let flags: [(SCNetworkReachabilityFlags, Status)] = [
        ([], .notReachable),
        ([.connectionOnDemand], .notReachable),
        ([.reachable, .connectionRequired], .notReachable),
        ([.reachable, .connectionRequired, .interventionRequired], .notReachable),
        ([.reachable], .reachable(.ethernetOrWiFi)),
        ([.reachable, .connectionRequired, .connectionOnDemand], .reachable(.ethernetOrWiFi)),
        ([.reachable, .connectionRequired, .connectionOnTraffic], .reachable(.ethernetOrWiFi)),
        ([.reachable, .isWWAN], .reachable(.cellular)),
        ([.reachable, .isWWAN, .connectionRequired], .notReachable),
    ]

    @Test("The status follows from the flags", arguments: flags)
    private func fromFlags(flags: SCNetworkReachabilityFlags, status: Status) {
        #expect(Status(flags) == status)
    }

    @Test("The text of flags has eleven characters, a letter for each set flag")
    func letters() {
        #expect(SCNetworkReachabilityFlags([]).readableDescription == "-- --------")
        #expect(SCNetworkReachabilityFlags(rawValue: .max).readableDescription == "WR ctiCDlda")
        #expect(SCNetworkReachabilityFlags([.reachable, .isDirect]).readableDescription == "-R ------d-")
        #expect(SCNetworkReachabilityFlags([.connectionOnTraffic, .isWWAN]).readableDescription == "W- ---C---a")
    }

    @Test("The status is current without a start", .namespaceInside)
    func live() async throws {
        let namespace = try await Namespace(.subnet)
        let managers = [try namespace.makeManager(), try namespace.makeManager(.outside)]
        for manager in managers {
            #expect(manager.flags == [] && manager.status == .notReachable && !manager.isReachable)
        }
        try await namespace.ip(.addDefault)
        for manager in managers {
            #expect(manager.flags == .reachable && manager.status == manager.networkReachabilityStatus)
            #expect(manager.isReachable && manager.isReachableOnEthernetOrWiFi)
            #expect(!manager.isReachableOnCellular && !manager.isReachableOnWWAN)
        }
        let local = try namespace.makeManager("localhost")
        #expect(local.status == .reachable(.ethernetOrWiFi))
    }

    @Test(
        "No manager is made from a text that is not a host name",
        arguments: ["", "https://example.com", "a/b", "a b", "a\0b", String(repeating: "a", count: 10_000)])
    func badHosts(host: String) {
        #expect(NetworkReachabilityManager(host: host) == nil)
    }

    @Test("There is one default manager, and a connection type can be named by itself")
    func names() {
        #expect(NetworkReachabilityManager.default === NetworkReachabilityManager.default)
        #expect(NetworkReachabilityManager.default != nil)
        let kind: NetworkReachabilityManager.ConnectionType = .cellular
        #expect(Status.reachable(kind) == .reachable(.cellular))
    }
}
