// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NetworkReachability
import Synchronization
import TestSupport
import Testing

/// Starts, stops and releases managers while routes flap.
enum Storm {
    static func run<Manager: ManagerUnderTest>(_: Manager.Type) async throws {
        let namespace = try await Namespace(.subnet)
        // Keeps the library's thread running, and shows that the routes flap.
        let monitor = try namespace.inside { try ReachabilityMonitor(address: String.outside) }
        var paths = monitor.makeAsyncIterator()
        let flapping = try namespace.flapDefaultRoute()
        for _ in 0..<3 { _ = await paths.next() }
        let descriptors = try openDescriptors()
        let ended = Recorder<Void>()
        let lateCalls = Recorder<Void>()
        let results = Recorder<Result<Void, any Error>>()
        // On its own thread, as other tests need the threads of tasks.
        try startThread {
            results.record(Result { try namespace.inside { try repeatCycle(Manager.self, ended, lateCalls) } })
        }
        try await #require(results.next()).get()
        for _ in 0..<Repetitions.cycles { await ended.next() }
        #expect(lateCalls.count == 0)
        // Tests that run at the same time have descriptors, too, and close them in the end.
        try await waitUntil { try openDescriptors() <= descriptors + 100 }
        withExtendedLifetime(flapping) {}
    }

    private static func repeatCycle<Manager: ManagerUnderTest>(
        _: Manager.Type, _ ended: Recorder<Void>, _ lateCalls: Recorder<Void>
    ) throws {
        let queue = DispatchQueue(label: "deliveries")
        for cycle in 0..<Repetitions.cycles {
            let manager = try Manager(address: .outside, queue: queue)
            let probe = DeinitProbe(ended)
            let isStopped = StopFlag()
            let onDelivery: @Sendable (Bool) -> Void = { _ in
                withExtendedLifetime(probe) { if isStopped.isSet { lateCalls.record(()) } }
            }
            manager.start(onDelivery)
            switch cycle % 4 {
            case 0: break
            case 1: manager.stop()
            case 2:
                manager.deliveryQueue.sync {
                    manager.stop()
                    isStopped.set()
                }
            default:
                manager.start(onDelivery)
                // Two threads release the manager at the same time.
                queue.async { withExtendedLifetime(manager) {} }
            }
        }
    }
}

private final class StopFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// The number of open descriptors of this process.
private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}
