// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import TestSupport
import Testing

/// A manager whose first answer and changes of its route come at the same time.
enum Race {
    /// Starts a manager over and over during so many changes, each of which undoes the one before. What it tells last is
    /// how things are.
    static func run<Manager: Subject>(_: Manager.Type, changes: Int) async throws {
        let namespace = try await Namespace(.gateway)
        let manager: Manager = try makeManager(in: namespace)
        let bystander = try Bystander(in: namespace)
        var staleTurns: [Int] = []
        for turn in 0..<Repetitions.tries {
            try Task.checkCancellation()
            let last = Mutex<Bool?>(nil)
            let numbers = turn * changes..<(turn + 1) * changes
            async let areMade = namespace.inside {
                numbers.allSatisfy { $0 % 2 == 0 ? RejectedRoute.add() : RejectedRoute.delete() }
            }
            // The queue has other things to do: before the first answer, and between that and the next callback.
            manager.arrivals.async { spin(turn % 10) }
            manager.start { isReachable in last.withLock { $0 = isReachable } }
            manager.arrivals.async { spin(turn / 10 % 10) }
            try #require(await areMade)
            let isReachable = numbers.upperBound % 2 == 0
            // Twice: what changes during a callback is handed over when that has ended.
            for _ in 0..<2 {
                try bystander.waitUntilTold()
                manager.settle()
            }
            manager.stop()
            if last.withLock({ $0 }) != isReachable { staleTurns.append(turn) }
        }
        #expect(staleTurns == [])
    }

    /// A change that the first answer sees, and that is undone before the callback which would have told of it.
    static func runUndone<Manager: Subject>(_: Manager.Type) async throws {
        let namespace = try await Namespace(.gateway)
        let manager: Manager = try makeManager(in: namespace)
        let told = Recorder<Bool>()
        try undo(namespace, manager) { told.record($0) }
        #expect(await told.rest() == [false, true])
    }

    private static func undo(
        _ namespace: Namespace, _ manager: some Subject, _ tell: @escaping @Sendable (Bool) -> Void
    ) throws {
        let bystander = try Bystander(in: namespace)
        let isAnswered = DispatchSemaphore(value: 0)
        let arrivals = manager.arrivals
        arrivals.suspend()
        manager.start(tell)
        arrivals.async {
            arrivals.suspend()
            isAnswered.signal()
        }
        #expect(try namespace.inside { RejectedRoute.add() })
        try bystander.waitUntilTold()
        arrivals.resume()
        isAnswered.wait()
        #expect(try namespace.inside { RejectedRoute.delete() })
        try bystander.waitUntilTold()
        arrivals.resume()
        manager.settle()
    }

    private static func makeManager<Manager: Subject>(in namespace: Namespace) throws -> Manager {
        try namespace.inside { try Manager(address: "198.51.100.1", queue: DispatchQueue(label: "deliveries")) }
    }
}

/// Busy for tens of microseconds.
private func spin(_ tens: Int) {
    let end = ContinuousClock.now + .microseconds(10 * tens)
    while ContinuousClock.now < end {}
}
