// SPDX-License-Identifier: MIT

import NWReachability
import Synchronization

extension Comparison {
    /// From a callback of the C library to an NWPathMonitor's handler on its queue. The reference is one bare dispatch to
    /// a queue.
    static let handler = Comparison(
        title: "callback to handler",
        ours: { arrival in
            let source = CallbackNetwork()
            let monitor = NWPathMonitor(source: source)
            monitor.pathUpdateHandler = { _ in arrival.record() }
            monitor.start(queue: DispatchQueue(label: "paths"))
            arrival.wait()
            return Hop(send: source.callback, end: { monitor.cancel() })
        },
        reference: { arrival in
            let queue = DispatchQueue(label: "paths")
            return Hop(send: { queue.async { arrival.record() } }, end: {})
        },
        referenceName: "one bare dispatch",
        threshold: 1.3)
}

/// A source that does what KernelSource does in a callback, when the benchmark wants it. Each path differs from the last.
private final class CallbackNetwork: NetworkSource {
    private let kernel: KernelNetwork
    private let list = Mutex(ReceiverList())
    private let isReachable = Atomic(false)

    init() {
        // Scheduled, so that state() reads the last evaluation, as in a callback.
        guard let kernel = KernelNetwork(), kernel.schedule({}) else { fatalError("the kernel cannot be queried") }
        self.kernel = kernel
        _ = store()
    }

    deinit {
        kernel.unschedule()
    }

    func callback() {
        store()?.send()
    }

    private func store() -> ReceiverList.Sending? {
        guard var state = kernel.read()?.state else { fatalError("the kernel cannot be queried") }
        state.isNameServerReachable = isReachable.logicalXor(true, ordering: .relaxed).newValue
        return list.withLock { $0.set(state, isWhole: true, isNew: true) }
    }

    func add(_ receiver: any NetworkReceiver) -> NetworkUpdate {
        list.withLock { list in
            list.add(receiver)
            return list.latest
        }
    }

    func remove(_ receiver: any NetworkReceiver) {
        _ = list.withLock { $0.remove(receiver) }
    }
}
