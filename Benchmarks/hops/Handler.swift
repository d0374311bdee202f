// SPDX-License-Identifier: MIT

import NWReachability
import Synchronization

extension Comparison {
    /// From a callback of the C library to an NWPathMonitor's handler on its queue. The reference is one bare dispatch to
    /// a queue.
    static let handler = Comparison(
        title: "callback to handler",
        ours: { arrival in
            // A callback reads the C library's last evaluation. Then a script supplies a path that differs from the last.
            guard let kernel = KernelNetwork(), kernel.schedule({}) else { fatalError("the kernel cannot be queried") }
            let networks = [NWPathMonitor.Script.Network.wifi, .cellular]
            let script = NWPathMonitor.Script(networks[0])
            let monitor = NWPathMonitor(script: script)
            monitor.pathUpdateHandler = { _ in arrival.record() }
            monitor.start(queue: DispatchQueue(label: "paths"))
            arrival.wait()
            let count = Counter()
            return Hop(
                send: {
                    _ = kernel.read()
                    script.play(networks[count.next() % 2])
                },
                end: {
                    monitor.cancel()
                    kernel.unschedule()
                })
        },
        reference: { arrival in
            let queue = DispatchQueue(label: "paths")
            return Hop(send: { queue.async { arrival.record() } }, end: {})
        },
        referenceName: "one bare dispatch",
        threshold: 1.3)
}

private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
