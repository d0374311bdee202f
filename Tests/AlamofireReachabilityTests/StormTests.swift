// SPDX-License-Identifier: MIT

import AlamofireReachability
import Dispatch
import TestSupport
import Testing

@Suite("NetworkReachabilityManager, over and over", .namespaceInside, .growing)
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
    private let manager: NetworkReachabilityManager
    let deliveries: DispatchQueue
    var arrivals: DispatchQueue { manager.reachabilityQueue }

    init(address: String, queue: DispatchQueue) throws {
        manager = try #require(NetworkReachabilityManager(host: address))
        deliveries = queue
    }

    func start(_ tell: @escaping @Sendable (Bool) -> Void) {
        manager.startListening(onQueue: deliveries) { tell($0 != .notReachable) }
    }

    func stop() { manager.stopListening() }
}
