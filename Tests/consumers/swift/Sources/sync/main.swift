// An actor that restarts its transfer when packets leave in another way, and stops it while they cannot leave.

import NetworkReachability

actor Sync {
    private let monitor: ReachabilityMonitor
    private let transfer: @Sendable (ReachabilityPath) async throws -> Void
    private var running: Task<Void, any Error>?

    init(_ monitor: ReachabilityMonitor, transfer: @escaping @Sendable (ReachabilityPath) async throws -> Void) {
        self.monitor = monitor
        self.transfer = transfer
    }

    /// Until the monitor, or the task, is cancelled.
    func run() async {
        for await path in monitor {
            running?.cancel()
            running = path.isReachable ? Task { [transfer] in try await transfer(path) } : nil
        }
        running?.cancel()
    }
}

/// Plays two networks, and waits for a transfer over each.
func check() async {
    let script = ReachabilityScript(.unreachable(.noCarrier))
    let monitor = ReachabilityMonitor(script: script)
    let (transfers, begun) = AsyncStream.makeStream(of: ReachabilityPath.self)
    async let run: Void = Sync(monitor) { begun.yield($0) }.run()
    var iterator = transfers.makeAsyncIterator()
    for name in ["wlan0", "eth0"] {
        let interface = ReachabilityPath.Interface(name: name, index: 1, type: .wiFi)
        script.play(ReachabilityPath(flags: .reachable, interface: interface))
        guard await iterator.next()?.interface == interface else { fatalError("no transfer over \(name)") }
    }
    monitor.cancel()
    await run
}
await check()
