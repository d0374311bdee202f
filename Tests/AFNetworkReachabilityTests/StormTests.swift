// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Dispatch
import TestSupport
import Testing

@Suite("AFNetworkReachabilityManager, over and over", .namespaceInside, .growing)
struct StormTests {
    @Test("Started, stopped and let go of while routes flap: nothing leaks, nothing comes after a stop")
    func storm() async throws {
        try await Storm.run(Manager.self)
    }

    @Test("A change that races the first answer, undone or not, never leaves an old status behind", arguments: [1, 2])
    func race(changes: Int) async throws {
        try await Race.run(Manager.self, changes: changes)
    }

    @Test("A change that the first answer saw, and no callback told of, is told to be undone")
    func undone() async throws {
        try await Race.runUndone(Manager.self)
    }
}

private struct Manager: Subject {
    private let manager: AFNetworkReachabilityManager
    var arrivals: DispatchQueue { AFNetworkReachabilityManager.arrivals }
    var deliveries: DispatchQueue { manager.deliveryQueue }

    init(address: String, queue: DispatchQueue) {
        manager = AFNetworkReachabilityManager(forDomain: address)
        manager.deliveryQueue = queue
    }

    func start(_ tell: @escaping @Sendable (Bool) -> Void) {
        // What is told is set before.
        manager.setReachabilityStatusChange { [weak manager] _ in tell(manager?.isReachable == true) }
        manager.startMonitoring()
    }

    func stop() { manager.stopMonitoring() }
}
