// SPDX-License-Identifier: MIT

internal import Synchronization

/// Records its end, which is that of whatever holds it.
package final class Canary: Sendable {
    private let ended: Recorder<Void>
    private let stopped = Atomic(false)
    package var isStopped: Bool { stopped.load(ordering: .acquiring) }

    package init(_ ended: Recorder<Void>) { self.ended = ended }
    deinit { ended.record(()) }

    package func stop() { stopped.store(true, ordering: .releasing) }
}
