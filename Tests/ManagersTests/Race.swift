// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import TestSupport
import Testing

/// A manager's first query races with changes of its route.
enum Race {
    /// Starts a manager again and again, with this number of changes at the same time. Each change undoes the one
    /// before. Expects that the last delivered status is the current one.
    static func run<Manager: ManagerUnderTest>(_: Manager.Type, changes: Int) async throws {
        let namespace = try await Namespace(.gateway)
        let manager: Manager = try makeManager(in: namespace)
        let libraryThread = try LibraryThreadSync(in: namespace)
        var staleTurns: [Int] = []
        for turn in 0..<Repetitions.tries {
            try Task.checkCancellation()
            let last = Mutex<Bool?>(nil)
            let numbers = turn * changes..<(turn + 1) * changes
            async let areMade = namespace.inside {
                numbers.allSatisfy { $0 % 2 == 0 ? RejectedRoute.add() : RejectedRoute.delete() }
            }
            // Varies the time before the first query, and between that query and the next callback.
            manager.callbackQueue.async { spin(turn % 10) }
            manager.start { isReachable in last.withLock { $0 = isReachable } }
            manager.callbackQueue.async { spin(turn / 10 % 10) }
            try #require(await areMade)
            let isReachable = numbers.upperBound % 2 == 0
            // Twice: a change during a callback is handed over after that callback.
            for _ in 0..<2 {
                try libraryThread.wait()
                manager.drainQueues()
            }
            manager.stop()
            if last.withLock({ $0 }) != isReachable { staleTurns.append(turn) }
        }
        #expect(staleTurns == [])
    }

    /// The first query sees a change. The change is undone before its own callback. Expects that both are delivered.
    static func runUndone<Manager: ManagerUnderTest>(_: Manager.Type) async throws {
        let namespace = try await Namespace(.gateway)
        let manager: Manager = try makeManager(in: namespace)
        let statuses = Recorder<Bool>()
        try changeAndUndo(namespace, manager) { statuses.record($0) }
        #expect(await statuses.rest() == [false, true])
    }

    private static func changeAndUndo(
        _ namespace: Namespace, _ manager: some ManagerUnderTest, _ onDelivery: @escaping @Sendable (Bool) -> Void
    ) throws {
        let libraryThread = try LibraryThreadSync(in: namespace)
        let hasQueried = DispatchSemaphore(value: 0)
        let callbackQueue = manager.callbackQueue
        callbackQueue.suspend()
        manager.start(onDelivery)
        callbackQueue.async {
            callbackQueue.suspend()
            hasQueried.signal()
        }
        #expect(try namespace.inside { RejectedRoute.add() })
        try libraryThread.wait()
        callbackQueue.resume()
        hasQueried.wait()
        #expect(try namespace.inside { RejectedRoute.delete() })
        try libraryThread.wait()
        callbackQueue.resume()
        manager.drainQueues()
    }

    private static func makeManager<Manager: ManagerUnderTest>(in namespace: Namespace) throws -> Manager {
        try namespace.inside { try Manager(address: "198.51.100.1", queue: DispatchQueue(label: "deliveries")) }
    }
}

/// Busy for this many tens of microseconds.
private func spin(_ tens: Int) {
    let end = ContinuousClock.now + .microseconds(10 * tens)
    while ContinuousClock.now < end {}
}
