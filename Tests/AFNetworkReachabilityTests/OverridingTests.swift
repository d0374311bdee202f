// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

@Suite("Subclasses of AFNetworkReachabilityManager")
struct OverridingTests {
    @Test("A subclass that overrides the status also changes the properties that depend on it")
    func status() {
        let manager: AFNetworkReachabilityManager = CellularManager()
        #expect(manager.networkReachabilityStatus == .reachableViaWWAN)
        #expect(manager.isReachable && manager.isReachableViaWWAN && !manager.isReachableViaWiFi)
        #expect(manager.localizedNetworkReachabilityStatusString(language: "en") == "Reachable via WWAN")
    }

    @Test("A subclass may override everything, and never start")
    func everything() {
        let manager: AFNetworkReachabilityManager = FakeManager()
        #expect(FakeManager.shared() is FakeManager)
        #expect(manager.networkReachabilityStatus == .unknown)
        #expect(manager.isReachable && manager.isReachableViaWWAN && manager.isReachableViaWiFi)
        #expect(manager.localizedNetworkReachabilityStatusString() == "fake")
        #expect(manager.localizedNetworkReachabilityStatusString(language: "de") == "fake")
        let statuses = manager.recordStatuses()
        #expect(!manager.startMonitoring())
        manager.stopMonitoring()
        #expect(statuses.count == 1)
    }

    @Test("A sequence has the delivered statuses, not the status of a subclass, which may call the manager", .limited)
    func sequence() async {
        let manager = ReentrantManager()
        for await status in manager.statuses {
            #expect(status == .unknown)
            break
        }
        #expect(manager.networkReachabilityStatus == .reachableViaWiFi)
    }
}

// Unchecked Sendable, like the other two: a subclass must repeat it. None has state of its own, so none needs a lock.
private final class CellularManager: AFNetworkReachabilityManager, @unchecked Sendable {
    override var networkReachabilityStatus: AFNetworkReachabilityStatus { .reachableViaWWAN }
}

private final class FakeManager: AFNetworkReachabilityManager, @unchecked Sendable {
    override class func shared() -> AFNetworkReachabilityManager { FakeManager() }
    override var isReachable: Bool { true }
    override var isReachableViaWWAN: Bool { true }
    override var isReachableViaWiFi: Bool { true }
    override func localizedNetworkReachabilityStatusString() -> String { "fake" }
    override func localizedNetworkReachabilityStatusString(language: String) -> String { "fake" }
    override func setReachabilityStatusChange(_ block: (@Sendable (AFNetworkReachabilityStatus) -> Void)?) {
        block?(.notReachable)
    }
    override func startMonitoring() -> Bool { false }
    override func stopMonitoring() {}
}

/// Its status deadlocks if it is read with a lock held.
private final class ReentrantManager: AFNetworkReachabilityManager, @unchecked Sendable {
    override var networkReachabilityStatus: AFNetworkReachabilityStatus {
        addObserver { _ in }.cancel()
        return .reachableViaWiFi
    }
}
