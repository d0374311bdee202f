// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@Suite("The managers, over and over", .namespaceInside, .patient)
struct StormTests {
    private static let managers: [any Subject.Type] = [AFManager.self, AlamofireManager.self, ClassicManager.self]

    @Test(
        "Started, stopped and let go of while routes flap: nothing leaks, nothing comes after a stop",
        arguments: managers)
    func storm(manager: any Subject.Type) async throws {
        try await Storm.run(manager)
    }

    @Test(
        "A change that races the first answer, undone or not, never leaves an old status behind",
        arguments: managers, [1, 2])
    func race(manager: any Subject.Type, changes: Int) async throws {
        try await Race.run(manager, changes: changes)
    }

    @Test("A change that the first answer saw, and no callback told of, is told to be undone", arguments: managers)
    func undone(manager: any Subject.Type) async throws {
        try await Race.runUndone(manager)
    }
}
