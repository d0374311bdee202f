// SPDX-License-Identifier: MIT

import Dispatch
import NetworkReachability
import Synchronization

extension Comparison {
    /// From a change of the path to the element in the task that iterates a monitor.
    static let element = Comparison(
        title: "change to element",
        ours: { arrival in
            let changes = Changes()
            let task = Task { for await _ in changes.monitor { arrival.record() } }
            arrival.wait()
            return Hop(send: changes.playNext, end: { task.cancel() })
        },
        reference: { arrival in
            let (stream, continuation) = AsyncStream.makeStream(
                of: ReachabilityPath.self, bufferingPolicy: .bufferingNewest(1))
            let task = Task { for await _ in stream { arrival.record() } }
            return Hop(send: { continuation.yield(.reachable) }, end: { task.cancel() })
        },
        referenceName: "one hop of a bare AsyncStream",
        threshold: 1.3)

    /// From a change of the path to an observer's block on its queue.
    static let block = Comparison(
        title: "change to block",
        ours: { arrival in
            let changes = Changes()
            let observation = changes.monitor.observe(on: DispatchQueue(label: "observer")) { _ in arrival.record() }
            arrival.wait()
            return Hop(send: changes.playNext, end: observation.cancel)
        },
        reference: { arrival in
            let queue = DispatchQueue(label: "reference")
            return Hop(send: { queue.async { arrival.record() } }, end: {})
        },
        referenceName: "one bare dispatch",
        threshold: 1.4)
}

/// A monitor whose path changes when we choose.
private final class Changes: Sendable {
    let monitor: ReachabilityMonitor
    private let script = ReachabilityScript()
    private let count = Atomic<UInt32>(0)

    init() {
        monitor = ReachabilityMonitor(script: script)
    }

    /// Each path differs from the last, or there would be nothing to deliver.
    func playNext() {
        script.play(ReachabilityPath(flags: ReachabilityFlags(rawValue: count.add(1, ordering: .relaxed).newValue)))
    }
}
