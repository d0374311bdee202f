// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// A receiver's registration with a monitor. It ends with this object, or at `cancel()`.
///
/// The registration keeps the monitor, and the monitor keeps the receiver. The receiver is released when the
/// registration or the monitor's sending ends.
final class Registration: Sendable {
    private let entry: Mutex<(monitor: ReachabilityMonitor, number: UInt64)?>

    init(_ receiver: any PathReceiver, with monitor: ReachabilityMonitor) {
        entry = Mutex((monitor, monitor.addReceiver(receiver)))
    }

    deinit {
        cancel()
    }

    func cancel() {
        let entry = entry.withLock { entry in
            defer { entry = nil }
            return entry
        }
        if let entry { entry.monitor.removeReceiver(entry.number) }
    }
}
#endif
