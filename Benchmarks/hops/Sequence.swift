// SPDX-License-Identifier: MIT

import NetworkReachability
import Synchronization

extension Comparison {
    /// From a callback of the C library to the element in the task that iterates a monitor.
    static let sequence = Comparison(
        title: "callback to element",
        ours: { monitor(CallbackSource(), $0) },
        reference: stream,
        referenceName: "one hop of a bare AsyncStream",
        threshold: 1.15)
}

private func monitor(_ source: CallbackSource, _ arrival: Arrival) -> Hop {
    let monitor = ReachabilityMonitor(source: source)
    let task = Task { for await _ in monitor { arrival.record() } }
    arrival.wait()
    return Hop(send: source.callback, end: { task.cancel() })
}

private func stream(_ arrival: Arrival) -> Hop {
    let path = ReachabilityPath.reachable
    let (stream, continuation) = AsyncStream.makeStream(
        of: ReachabilityPath.self, bufferingPolicy: .bufferingNewest(1))
    let task = Task { for await _ in stream { arrival.record() } }
    return Hop(send: { continuation.yield(path) }, end: { task.cancel() })
}

/// A source that does what KernelSource does in a callback, when the benchmark wants it. Each path differs from the last.
private final class CallbackSource: Source {
    private let kernel: KernelSource
    private let count = Atomic<UInt32>(0)
    private let schedule = Mutex(ScheduleState())

    /// A structure: a Mutex wraps a closure once more at each access if the closure itself is the value.
    private struct ScheduleState {
        var onChange: (@Sendable () -> Void)?
    }

    init() {
        guard let kernel = try? KernelSource(.host("127.0.0.1"), ReachabilityOptions()) else {
            fatalError("the kernel cannot be queried")
        }
        self.kernel = kernel
    }

    func callback() {
        schedule.withLock { $0.onChange }?()
    }

    func path() -> ReachabilityPath? {
        var path = kernel.path() ?? .reachable
        path.flags = ReachabilityFlags(rawValue: count.add(1, ordering: .relaxed).newValue)
        return path
    }

    func start(onChange: @escaping @Sendable () -> Void) {
        schedule.withLock { $0.onChange = onChange }
        kernel.start {}  // scheduled, so that path() reads the last evaluation, as in a callback
    }

    func stop() {
        schedule.withLock { $0.onChange = nil }
        kernel.stop()
    }
}
