// SPDX-License-Identifier: MIT

import Dispatch
import NetworkReachability
import Synchronization
import TestSupport
import Testing

/// Somebody else in a namespace with a gateway, who is told of a route of his own by the one thread that tells everyone.
final class Bystander: Sendable {
    private let namespace: Namespace
    private let source: KernelSource
    private let isTold = DispatchSemaphore(value: 0)
    private let isReachable = Atomic(true)

    init(in namespace: Namespace) throws {
        self.namespace = namespace
        source = try namespace.inside { try KernelSource(.host("198.51.100.2"), ReachabilityOptions()) }
        source.start { [weak self] in self?.note() }
    }

    deinit {
        source.stop()
    }

    private func note() {
        isReachable.store(source.path()?.isReachable == true, ordering: .releasing)
        isTold.signal()
    }

    /// Waits until that thread has handed over whatever callback is due for what has changed before.
    ///
    /// Not with `await`: a test that holds up a queue of the managers' must go on while others wait for it on the threads
    /// that tasks run on.
    func waitUntilTold() throws {
        // The first change is told after those before it were seen, and perhaps before others are told of them. The
        // second one is not made until then, so that it is for another pass of the thread.
        try wait(until: false, after: RejectedRoute.add)
        try wait(until: true, after: RejectedRoute.delete)
    }

    private func wait(until wanted: Bool, after change: (UInt8) -> Bool) throws {
        #expect(try namespace.inside { change(2) })
        while isReachable.load(ordering: .acquiring) != wanted {
            guard isTold.wait(timeout: .now() + .seconds(Patience.seconds)) == .success else {
                Issue.record("a change was not told")
                return
            }
        }
    }
}
