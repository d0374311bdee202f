// SPDX-License-Identifier: MIT

import Dispatch
import NetworkReachability
import Synchronization
import TestSupport
import Testing

/// Waits until the C library's thread has made the callbacks for all earlier changes in a namespace.
///
/// It watches a host of its own, changes its route, and waits for the callback, which comes on the same thread.
final class LibraryThreadSync: Sendable {
    private let namespace: Namespace
    private let source: KernelSource
    private let hasChanged = DispatchSemaphore(value: 0)
    private let isReachable = Atomic(true)

    /// The namespace must have a default route.
    init(in namespace: Namespace) throws {
        self.namespace = namespace
        source = try namespace.inside { try KernelSource(.host("198.51.100.2"), ReachabilityOptions()) }
        source.start { [weak self] in self?.sourceChanged() }
    }

    deinit {
        source.stop()
    }

    private func sourceChanged() {
        isReachable.store(source.path()?.isReachable == true, ordering: .releasing)
        hasChanged.signal()
    }

    /// Blocks the thread. It is not `async`, because the caller may have suspended a queue of the managers: it must go
    /// on even if other tests, which wait for that queue, hold all threads of tasks.
    func wait() throws {
        // The callback of the first change may come before other callbacks of the same pass of the thread. The second
        // change comes after that callback, so the thread handles it in a later pass.
        try change(toReachable: false, by: RejectedRoute.add)
        try change(toReachable: true, by: RejectedRoute.delete)
    }

    private func change(toReachable wanted: Bool, by change: (UInt8) -> Bool) throws {
        #expect(try namespace.inside { change(2) })
        while isReachable.load(ordering: .acquiring) != wanted {
            guard hasChanged.wait(timeout: .now() + .seconds(TimeLimit.seconds)) == .success else {
                Issue.record("a change was not reported")
                return
            }
        }
    }
}
