// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// A network that does as it is told, for tests of programs that use a ``ReachabilityMonitor``.
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

    public init(_ path: ReachabilityPath = .reachable) {
        state = Mutex(State(path: path))
    }

    /// The path that was played last.
    public var path: ReachabilityPath { state.withLock { $0.path } }

    /// How many monitors have iterators or observers now: in a test, whether the program has let go.
    public var watchedMonitors: Int { state.withLock { $0.watchers.count } }

    /// From now on the path is this one. When this returns, all monitors of the script have it; iterators and observers
    /// are told in their own time, and skip what they were too slow for.
    public func play(_ path: ReachabilityPath) {
        let watchers = state.withLock { state in
            state.path = path
            return state.watchers
        }
        for onChange in watchers.values { onChange() }
    }

    fileprivate func watch(_ watcher: ObjectIdentifier, _ onChange: (@Sendable () -> Void)?) {
        state.withLock { $0.watchers[watcher] = onChange }
    }
}

extension ReachabilityMonitor {
    /// A monitor that follows a script instead of the kernel.
    public convenience init(script: ReachabilityScript, settleTime: Duration = .zero) {
        self.init(source: ScriptSource(script), settleTime: settleTime)
    }
}

/// One monitor's view of a script.
private final class ScriptSource: Source {
    private let script: ReachabilityScript

    init(_ script: ReachabilityScript) {
        self.script = script
    }

    func path() -> ReachabilityPath? { script.path }

    func start(onChange: @escaping @Sendable () -> Void) {
        script.watch(ObjectIdentifier(self), onChange)
    }

    func stop() {
        script.watch(ObjectIdentifier(self), nil)
    }
}
#endif
