// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch
public import Observation
import Synchronization

/// A monitor's path for the Observation framework. The kernel is watched for as long as this object lives.
///
/// ```swift
/// let model = ReachabilityModel(ReachabilityMonitor(), on: .main)
/// withObservationTracking { show(model.path) } onChange: { ... }
/// ```
///
/// The path changes on a queue that the user chooses, and in between is always the same: code that reads it on that queue
/// misses no change. So give the main queue for what the main actor reads.
public final class ReachabilityModel: Observable, Sendable {
    private let registrar = ObservationRegistrar()
    private let current: Mutex<ReachabilityPath>
    private let observation = Mutex<ReachabilityObservation?>(nil)

    /// - Parameters:
    ///   - monitor: Whose path this is. It is kept.
    ///   - queue: Where the path changes, and what observes it is told; a serial one. nil: a queue of this library's own.
    public init(_ monitor: ReachabilityMonitor, on queue: DispatchQueue? = nil) {
        current = Mutex(monitor.path)
        let observation = monitor.observe(on: queue) { [weak self] path in self?.change(to: path) }
        self.observation.withLock { $0 = observation }
    }

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
