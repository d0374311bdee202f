// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

/// Tells whether packets can leave this machine for a target, over what, why not, and when that changes.
///
/// ```swift
/// for await path in try ReachabilityMonitor(host: "example.com") {
///     print(path.isReachable ? "reachable" : "not reachable: \(path.reason)")
/// }
/// ```
///
/// "Reachable" means that a packet addressed to the target can leave this machine now. It never means that the target
/// answers.
///
/// Iterators and observers are told the current path first and then each one that differs from the last they were told;
/// of those that come while they are busy, the newest. The kernel is watched only while there are some, and they keep
/// their monitor. All calls may come from any thread, and none waits for a name server. A monitor belongs to the network
/// namespace of the thread that makes it.
public final class ReachabilityMonitor: Sendable {
    /// By numbers that are never used again.
    private typealias Listeners = [UInt64: any Listener]

    private struct State {
        var listeners: Listeners = [:]
        var lastListener: UInt64 = 0
        /// What the source said last; nil while it is not watched.
        var latest: ReachabilityPath?
        /// What listeners were told last. The next update always has a greater number.
        var told = Update(path: .unreachable(.undetermined), number: 0)
        var settling: Settling
        var timerIsSet = false
        var isCancelled = false
    }

    // In the order in which they are taken. While they are held, no user's code runs.
    /// Whether the source is started. Held while that changes.
    private let isWatching = Mutex(false)
    /// Held while the source is asked and the answer stored: answers are stored in the order in which they were given.
    private let reading = Mutex(())
    private let state: Mutex<State>

    private let source: any Source

    package init(source: any Source, settleTime: Duration = .zero) {
        self.source = source
        state = Mutex(State(settling: Settling(time: settleTime)))
    }

    /// The path now. It never waits for a name server: a host that is not resolved yet is
    /// ``ReachabilityReason/namePending``. While there are iterators or observers this is a load, otherwise the kernel is
    /// asked once, which takes some microseconds.
    public var path: ReachabilityPath {
        state.withLock { $0.latest } ?? source.path() ?? .unreachable(.undetermined)
    }

    /// Ends all iterators and observers, for good: later ones end at once. ``path`` can still be read.
    public func cancel() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.isCancelled = true
            return state.listeners
        }
        for listener in listeners.values { listener.close() }
        watchIfNeeded()
    }
}

// MARK: - Listeners

extension ReachabilityMonitor {
    /// Whether it was cancelled.
    var isOver: Bool { state.withLock(\.isCancelled) }

    /// Tells it the current path, and from then on each new one. Answers the number by which it can be removed.
    func add(_ listener: any Listener) -> UInt64 {
        let number = state.withLock { state -> UInt64? in
            if state.isCancelled { return nil }
            state.lastListener += 1
            state.listeners[state.lastListener] = listener
            return state.lastListener
        }
        guard let number else {
            listener.close()
            return 0
        }
        watchIfNeeded()
        // If it was the first, it has been told.
        let told = state.withLock { $0.told }
        if told.number > 0 { listener.receive(told) }
        return number
    }

    func removeListener(_ number: UInt64) {
        // Closed and released with no lock held.
        let listener = state.withLock { $0.listeners.removeValue(forKey: number) }
        guard let listener else { return }
        listener.close()
        watchIfNeeded()
    }
}

// MARK: - Watching

extension ReachabilityMonitor {
    /// Starts or stops the source. Whoever comes last finds the listeners as they are.
    private func watchIfNeeded() {
        let news = isWatching.withLock { isWatching -> News? in
            let isNeeded = state.withLock { !$0.listeners.isEmpty }
            if isNeeded == isWatching { return nil }
            isWatching = isNeeded
            if isNeeded {
                // Weak, as this closure is kept by what the monitor keeps.
                source.start { [weak self] in self?.readPath() }
                return read(isFirst: true)
            }
            source.stop()
            reading.withLock { _ in
                state.withLock { state in
                    state.latest = nil
                    state.settling.end()
                }
            }
            return nil
        }
        tell(news)
    }

    /// Asks the source, and tells listeners what is new.
    private func readPath() {
        tell(read())
    }

    private func read(isFirst: Bool = false) -> News? {
        reading.withLock { _ in
            // A late call, after the last listener has gone.
            guard isFirst || state.withLock({ $0.latest != nil }) else { return nil }
            let path = source.path()
            return state.withLock { state in
                let path = path ?? state.latest ?? .unreachable(.undetermined)
                guard path != state.latest else { return nil }
                state.latest = path
                return store(path, isFirst: isFirst, in: &state)
            }
        }
    }

    private enum News {
        case update(Update, Listeners)
        case timer(after: Duration)
    }

    private func store(_ path: ReachabilityPath, isFirst: Bool, in state: inout State) -> News? {
        if isFirst || state.settling.isImmediate { return update(&state) }
        if path == state.told.path {
            state.settling.end()
            return nil
        }
        let now = ContinuousClock.now
        state.settling.change(at: now)
        guard !state.timerIsSet, let due = state.settling.due else { return nil }
        state.timerIsSet = true
        return .timer(after: now.duration(to: due))
    }

    private func update(_ state: inout State) -> News? {
        state.settling.end()
        guard let latest = state.latest else { return nil }
        state.told = Update(path: latest, number: state.told.number + 1)
        return .update(state.told, state.listeners)
    }

    /// Called with no lock held: listeners resume tasks and hand work to queues.
    private func tell(_ news: News?) {
        switch news {
        case .update(let update, let listeners): for listener in listeners.values { listener.receive(update) }
        case .timer(let delay): setTimer(after: delay)
        case nil: break
        }
    }

    private func setTimer(after delay: Duration) {
        let (seconds, attoseconds) = delay.components
        // A moment more, so that it is not found to be early.
        let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds / 1_000_000_000 + 1)
        timers.asyncAfter(deadline: .now() + nanoseconds / 1e9) { [weak self] in self?.settle() }
    }

    private func settle() {
        let news = state.withLock { state -> News? in
            state.timerIsSet = false
            guard let due = state.settling.due else { return nil }
            let now = ContinuousClock.now
            if due <= now { return update(&state) }
            state.timerIsSet = true
            return .timer(after: now.duration(to: due))
        }
        tell(news)
    }
}
#endif
