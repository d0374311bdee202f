// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// Supplies the paths of a ``ReachabilityMonitor``, so that a program's tests need no network.
///
/// ```swift
/// let script = ReachabilityScript(.unreachable(.noCarrier))
/// let downloads = Downloads(monitor: ReachabilityMonitor(script: script))
/// script.play(.reachable)
/// ```
public final class ReachabilityScript: Sendable {
    private struct State {
        var path: ReachabilityPath
        var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state: Mutex<State>

    /// Makes a script that begins with this path.
    public init(_ path: ReachabilityPath = .reachable) {
        state = Mutex(State(path: path))
    }

    /// The last path played.
    public var path: ReachabilityPath { state.withLock { $0.path } }

    /// The number of monitors that have iterators or observers now. A test can check that the program has ended all.
    public var watchedMonitors: Int { state.withLock { $0.watchers.count } }

    /// Sets the path. When this returns, all monitors of the script have it. Iterators and observers get it later. A
    /// slow one gets only the newest path.
    public func play(_ path: ReachabilityPath) {
        let watchers = state.withLock { state in
            state.path = path
            return state.watchers
        }
        for onChange in watchers.values { onChange() }
    }

    fileprivate func setWatcher(_ watcher: ObjectIdentifier, _ onChange: (@Sendable () -> Void)?) {
        state.withLock { $0.watchers[watcher] = onChange }
    }
}

extension ReachabilityMonitor {
    /// Makes a monitor that follows a script instead of the kernel. The clock measures the settle time.
    public convenience init(
        script: ReachabilityScript, settleTime: Duration = .zero, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.init(source: ScriptSource(script), settleTime: settleTime, clock: clock)
    }
}

/// The source of one monitor that follows a script.
private final class ScriptSource: Source {
    private let script: ReachabilityScript

    init(_ script: ReachabilityScript) {
        self.script = script
    }

    func path() -> ReachabilityPath? { script.path }

    func start(onChange: @escaping @Sendable () -> Void) {
        script.setWatcher(ObjectIdentifier(self), onChange)
    }

    func stop() {
        script.setWatcher(ObjectIdentifier(self), nil)
    }
}
#endif
