// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@Suite("The managers under load", .namespaceInside, .limited)
struct ManagerStormTests {
    private static let managers: [any ManagerUnderTest.Type] = [
        AFManager.self, AlamofireManager.self, ClassicManager.self,
    ]

    @Test(
        "Starts, stops and releases while routes flap leak nothing, and no delivery follows a stop",
        arguments: managers)
    func storm(manager: any ManagerUnderTest.Type) async throws {
        try await Storm.run(manager)
    }

    @Test(
        "The last status is current after a change, undone or not, that races the first query",
        arguments: managers, [1, 2])
    func race(manager: any ManagerUnderTest.Type, changes: Int) async throws {
        try await Race.run(manager, changes: changes)
    }

    @Test("An undone change is delivered if the first query saw the change and no callback did", arguments: managers)
    func undone(manager: any ManagerUnderTest.Type) async throws {
        try await Race.runUndone(manager)
    }
}
