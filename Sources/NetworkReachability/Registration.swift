// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// A listener's place at a monitor, which it keeps: it ends with this object. The listener is the monitor's, and is let go
/// of as soon as either ends.
final class Registration: Sendable {
    private struct Place {
        var number: UInt64
        var monitor: ReachabilityMonitor
    }

    private let place: Mutex<Place?>

    init(_ listener: any Listener, at monitor: ReachabilityMonitor) {
        place = Mutex(Place(number: monitor.add(listener), monitor: monitor))
    }

    deinit {
        cancel()
    }

    func cancel() {
        let place = place.withLock { place in
            defer { place = nil }
            return place
        }
        if let place { place.monitor.removeListener(place.number) }
    }
}
#endif
