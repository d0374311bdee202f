// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch
public import Observation
import Synchronization

/// A monitor's path for the Observation framework. The kernel is watched while this object lives.
///
/// ```swift
/// let model = ReachabilityModel(ReachabilityMonitor(), on: .main)
/// withObservationTracking { show(model.path) } onChange: { ... }
/// ```
///
/// The path changes only on the queue passed to `init`, so code that reads it on that queue misses no change. Pass the
/// main queue if the main actor reads the path.
public final class ReachabilityModel: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let current: Mutex<ReachabilityPath>
    private let observation = Mutex<ReachabilityObservation?>(nil)

    /// - Parameters:
    ///   - monitor: The monitor of the path. The model keeps it alive.
    ///   - queue: A serial queue. The path changes and observers are notified on it. nil: a queue of this library.
    public init(_ monitor: ReachabilityMonitor, on queue: DispatchQueue? = nil) {
        current = Mutex(monitor.path)
        let observation = monitor.observe(on: queue) { [weak self] path in self?.change(to: path) }
        self.observation.withLock { $0 = observation }
    }

    /// The latest path. Views that read it follow it.
    public var path: ReachabilityPath {
        registrar.access(self, keyPath: \.path)
        return current.withLock { $0 }
    }

    private func change(to path: ReachabilityPath) {
        guard current.withLock({ $0 != path }) else { return }
        registrar.withMutation(of: self, keyPath: \.path) {
            current.withLock { $0 = path }
        }
    }
}
#endif
