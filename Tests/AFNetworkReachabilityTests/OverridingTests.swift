// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

@Suite("AFNetworkReachabilityManager is overridden")
struct OverridingTests {
    @Test("A double with a status of its own has what follows from it")
    func status() {
        let manager: AFNetworkReachabilityManager = Cellular()
        #expect(manager.networkReachabilityStatus == .reachableViaWWAN)
        #expect(manager.isReachable && manager.isReachableViaWWAN && !manager.isReachableViaWiFi)
        #expect(manager.localizedNetworkReachabilityStatusString(language: "en") == "Reachable via WWAN")
    }

    @Test("A double may answer all by itself, and never start")
    func everything() {
        let manager: AFNetworkReachabilityManager = Pretence()
        #expect(Pretence.shared() is Pretence)
        #expect(manager.networkReachabilityStatus == .unknown)
        #expect(manager.isReachable && manager.isReachableViaWWAN && manager.isReachableViaWiFi)
        #expect(manager.localizedNetworkReachabilityStatusString() == "pretended")
        #expect(manager.localizedNetworkReachabilityStatusString(language: "de") == "pretended")
        let told = manager.record()
        #expect(!manager.startMonitoring())
        manager.stopMonitoring()
        #expect(told.count == 1)
    }

    @Test("Sequences tell what is delivered: a double's status may look at the manager's", .patient)
    func sequence() async {
        let manager = Curious()
        for await status in manager.statuses {
            #expect(status == .unknown)
            break
        }
        #expect(manager.networkReachabilityStatus == .reachableViaWiFi)
    }
}

private final class Cellular: AFNetworkReachabilityManager, @unchecked Sendable {
    override var networkReachabilityStatus: AFNetworkReachabilityStatus { .reachableViaWWAN }
}

private final class Pretence: AFNetworkReachabilityManager, @unchecked Sendable {
    override class func shared() -> AFNetworkReachabilityManager { Pretence() }
    override var isReachable: Bool { true }
    override var isReachableViaWWAN: Bool { true }
    override var isReachableViaWiFi: Bool { true }
    override func localizedNetworkReachabilityStatusString() -> String { "pretended" }
    override func localizedNetworkReachabilityStatusString(language: String) -> String { "pretended" }
    override func setReachabilityStatusChange(_ block: (@Sendable (AFNetworkReachabilityStatus) -> Void)?) {
        block?(.notReachable)
    }
    override func startMonitoring() -> Bool { false }
    override func stopMonitoring() {}
}

/// Would wait for itself, were its status asked for with a lock held.
private final class Curious: AFNetworkReachabilityManager, @unchecked Sendable {
    override var networkReachabilityStatus: AFNetworkReachabilityStatus {
        addObserver { _ in }.cancel()
        return .reachableViaWiFi
    }
}
