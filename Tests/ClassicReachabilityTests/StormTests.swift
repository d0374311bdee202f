// SPDX-License-Identifier: MIT

import ClassicReachability
import Dispatch
import TestSupport
import Testing

@Suite("Reachability, over and over", .namespaceInside, .growing)
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
    private let reachability: Reachability
    var arrivals: DispatchQueue { reachability.queue }
    /// Blocks are not called on a queue of the user's.
    var deliveries: DispatchQueue { reachability.queue }

    init(address: String, queue: DispatchQueue) throws {
        reachability = try #require(Reachability(hostName: address))
        reachability.notificationQueue = queue
    }

    func start(_ tell: @escaping @Sendable (Bool) -> Void) {
        reachability.reachabilityBlock = { tell($1.contains(.reachable)) }
        reachability.startNotifier()
    }

    func stop() { reachability.stopNotifier() }
}
