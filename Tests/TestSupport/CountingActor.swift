// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Synchronization

/// An actor that counts the jobs of its executor: who leaves the actor comes back in one more job.
package actor CountingActor {
    private final class Executor: SerialExecutor {
        let jobs = Atomic(0)
        private let queue = DispatchQueue(label: "counting")

        func enqueue(_ job: consuming ExecutorJob) {
            jobs.add(1, ordering: .relaxed)
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = Executor()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init() {}

    /// The number of jobs that `body` takes besides the one in which it begins.
    package func jobs(during body: @Sendable (isolated CountingActor) async -> Void) async -> Int {
        let before = executor.jobs.load(ordering: .relaxed)
        await body(self)
        return executor.jobs.load(ordering: .relaxed) - before
    }
}
