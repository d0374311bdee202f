// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// A listener's place at a monitor, which it keeps: it ends with this object.
final class Registration: Sendable {
    private struct Place {
        var listener: any Listener
        var monitor: ReachabilityMonitor
    }

    private let place: Mutex<Place?>

    init(_ listener: any Listener, at monitor: ReachabilityMonitor) {
        place = Mutex(Place(listener: listener, monitor: monitor))
        monitor.add(listener)
    }

    deinit {
        cancel()
    }

    func cancel() {
        let place = place.withLock { place in
            defer { place = nil }
            return place
        }
        if let place { place.monitor.remove(place.listener) }
    }
}
#endif
