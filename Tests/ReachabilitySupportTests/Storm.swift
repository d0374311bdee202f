// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NetworkReachability
import TestSupport
import Testing

/// Managers that are started, stopped and let go of while routes flap.
enum Storm {
    static func run<Manager: Subject>(_: Manager.Type) async throws {
        let namespace = try await Namespace(.subnet)
        // Keeps the library's thread going, and shows that the routes do flap.
        let monitor = try namespace.inside { try ReachabilityMonitor(address: String.outside) }
        var paths = monitor.makeAsyncIterator()
        let flapping = try namespace.flap()
        for _ in 0..<3 { _ = await paths.next() }
        let descriptors = try openDescriptors()
        let ended = Recorder<Void>()
        let lateCalls = Recorder<Void>()
        let isOver = Recorder<Result<Void, any Error>>()
        // Not on the threads that tests run on, which others are waiting for.
        try startThread {
            isOver.record(Result { try namespace.inside { try repeatCycle(Manager.self, ended, lateCalls) } })
        }
        try await #require(isOver.next()).get()
        for _ in 0..<Repetitions.cycles { await ended.next() }
        #expect(lateCalls.count == 0)
        // Tests that run meanwhile open some as well, which are closed in the end.
        try await waitUntil { try openDescriptors() <= descriptors + 100 }
        withExtendedLifetime(flapping) {}
    }

    private static func repeatCycle<Manager: Subject>(
        _: Manager.Type, _ ended: Recorder<Void>, _ lateCalls: Recorder<Void>
    ) throws {
        let queue = DispatchQueue(label: "deliveries")
        for cycle in 0..<Repetitions.cycles {
            let manager = try Manager(address: .outside, queue: queue)
            let canary = Canary(ended)
            let tell: @Sendable (Bool) -> Void = { _ in if canary.isStopped { lateCalls.record(()) } }
            manager.start(tell)
            switch cycle % 4 {
            case 0: break
            case 1: manager.stop()
            case 2:
                manager.deliveries.sync {
                    manager.stop()
                    canary.stop()
                }
            default:
                manager.start(tell)
                // Another thread lets go while this one does.
                queue.async { withExtendedLifetime(manager) {} }
            }
        }
    }
}

/// How many descriptors this process has open.
private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}
