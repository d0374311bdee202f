// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// Reports whether packets can leave this machine for a target, over which interface, why not, and every change.
///
/// ```swift
/// for await path in try ReachabilityMonitor(host: "example.com") {
///     print(path)
/// }
/// ```
///
/// "Reachable" means that a packet addressed to the target can leave this machine now. It never means that the target
/// responds.
///
/// Iterators and observers get the current path first. Then they get each path that differs from the last one they got.
/// If several come while they are busy, they get only the newest.
///
/// The monitor watches the kernel only while it has iterators or observers. These keep their monitor alive. All calls
/// are safe from any thread, and none waits for a name server. A monitor belongs to the network namespace of the thread
/// that makes it.
public final class ReachabilityMonitor: Sendable {
    /// By number. A number is never used again.
    private typealias Receivers = [UInt64: any PathReceiver]

    private struct State {
        var receivers: Receivers = [:]
        var lastReceiverNumber: UInt64 = 0
        /// The last path of the source. nil while the source is stopped.
        var latest: ReachabilityPath?
        /// The last update that receivers got. The next one has a greater number.
        var lastUpdate = PathUpdate(path: .unreachable(.undetermined), number: 0)
        var debouncer: Debouncer
        var isTimerSet = false
        var isCancelled = false
    }

    // The locks, in the order in which a thread takes them. No user's code runs while one is held.

    /// Whether the source is started. Held while it is started or stopped.
    private let isSourceStarted = Mutex(false)
    /// Held from reading the source's path to storing it, so that an older path cannot replace a newer one.
    private let sourceRead = Mutex(())
    private let state: Mutex<State>

    private let source: any Source
    private let clock: NanosecondClock
    private let origin = ContinuousClock.now

    package init(
        source: any Source, settleTime: Duration = .zero, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.source = source
        self.clock = NanosecondClock(clock)
        state = Mutex(State(debouncer: Debouncer(settleTime: settleTime)))
    }

    /// The path now. Never waits for a name server: for a host whose name is not resolved yet, the reason is
    /// ``ReachabilityReason/namePending``.
    ///
    /// While there are iterators or observers, this only loads a value. Otherwise it queries the kernel once, which
    /// takes some microseconds.
    public var path: ReachabilityPath {
        state.withLock { $0.latest } ?? source.path() ?? .unreachable(.undetermined)
    }

    /// All addresses of the host, in the resolver's order. An address has itself. Empty: the default path, or a name that
    /// is not looked up, perhaps as there are no iterators or observers. They may be newer than ``path``.
    public var addresses: [IPAddress] { source.addresses }

    /// Ends all iterators and observers for good. Later ones end at once. ``path`` can still be read.
    public func cancel() {
        let receivers = state.withLock { state in
            defer { state.receivers = [:] }
            state.isCancelled = true
            return state.receivers
        }
        for receiver in receivers.values { receiver.close() }
        startOrStopSource()
    }
}

extension ReachabilityMonitor: CustomDebugStringConvertible {
    /// Several lines for people and logs: the target, its flags, reason and path, the state of the look-up. The wording may
    /// change.
    public var debugDescription: String { source.description }
}

// MARK: - Receivers

extension ReachabilityMonitor {
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Sends the receiver the current path, and then each new one. Returns the number that removes the receiver.
    func addReceiver(_ receiver: any PathReceiver) -> UInt64 {
        let number = state.withLock { state -> UInt64? in
            if state.isCancelled { return nil }
            state.lastReceiverNumber += 1
            state.receivers[state.lastReceiverNumber] = receiver
            return state.lastReceiverNumber
        }
        guard let number else {
            receiver.close()
            return 0
        }
        startOrStopSource()
        // The first receiver got this update when the source was started. It ignores an update that it has.
        let lastUpdate = state.withLock { $0.lastUpdate }
        if lastUpdate.number > 0 { receiver.receive(lastUpdate) }
        return number
    }

    func removeReceiver(_ number: UInt64) {
        // Closed and released without a lock.
        let receiver = state.withLock { $0.receivers.removeValue(forKey: number) }
        guard let receiver else { return }
        receiver.close()
        startOrStopSource()
    }
}

// MARK: - Watching

extension ReachabilityMonitor {
    /// What is left to do when the locks are released: a receiver resumes a task or queues a call.
    private enum FollowUp {
        case send(PathUpdate, Receivers)
        case setTimer(after: Duration)
    }

    /// Starts the source if there are receivers, and stops it if there are none. If several threads call this,
    /// the last one to take the lock sees all receivers.
    private func startOrStopSource() {
        let followUp = isSourceStarted.withLock { isSourceStarted -> FollowUp? in
            let isNeeded = state.withLock { !$0.receivers.isEmpty }
            if isNeeded == isSourceStarted { return nil }
            isSourceStarted = isNeeded
            if isNeeded {
                // Weak: the source keeps this closure, and the monitor keeps the source.
                source.start { [weak self] in self?.sourceChanged() }
                return readSource(isFirst: true)
            }
            source.stop()
            sourceRead.withLock { _ in
                state.withLock { state in
                    state.latest = nil
                    state.debouncer.reset()
                }
            }
            return nil
        }
        perform(followUp)
    }

    private func sourceChanged() {
        perform(readSource())
    }

    private func readSource(isFirst: Bool = false) -> FollowUp? {
        let now = isFirst ? origin : now  // a lock is held for the first path, which does not settle
        return sourceRead.withLock { _ in
            // A late call of `onChange`, after the source was stopped.
            guard isFirst || state.withLock({ $0.latest != nil }) else { return nil }
            let path = source.path()
            return state.withLock { state in
                let path = path ?? state.latest ?? .unreachable(.undetermined)
                guard path != state.latest else { return nil }
                state.latest = path
                return recordChange(to: path, isFirst: isFirst, at: now, in: &state)
            }
        }
    }

    private func recordChange(
        to path: ReachabilityPath, isFirst: Bool, at now: ContinuousClock.Instant, in state: inout State
    ) -> FollowUp? {
        if isFirst || state.debouncer.isImmediate { return sendLatest(&state) }
        if path == state.lastUpdate.path {
            state.debouncer.reset()
            return nil
        }
        state.debouncer.recordChange(at: now)
        guard !state.isTimerSet, let due = state.debouncer.due else { return nil }
        state.isTimerSet = true
        return .setTimer(after: now.duration(to: due))
    }

    private func sendLatest(_ state: inout State) -> FollowUp? {
        state.debouncer.reset()
        guard let latest = state.latest else { return nil }
        state.lastUpdate = PathUpdate(path: latest, number: state.lastUpdate.number + 1)
        return .send(state.lastUpdate, state.receivers)
    }

    private func perform(_ followUp: FollowUp?) {
        switch followUp {
        case .send(let update, let receivers): for receiver in receivers.values { receiver.receive(update) }
        case .setTimer(let delay): setTimer(after: delay)
        case nil: break
        }
    }

    /// The time of `clock`, which may be the user's code: not to be read with a lock held.
    private var now: ContinuousClock.Instant { origin + .nanoseconds(clock.now()) }

    private func setTimer(after delay: Duration) {
        let end = clock.now() + delay.nanoseconds
        Task.detached { [weak self, clock] in
            try? await clock.sleep(end)
            self?.timerFired()
        }
    }

    private func timerFired() {
        let now = now
        let followUp = state.withLock { state -> FollowUp? in
            state.isTimerSet = false
            guard let due = state.debouncer.due else { return nil }
            if due <= now { return sendLatest(&state) }
            state.isTimerSet = true
            return .setTimer(after: now.duration(to: due))
        }
        perform(followUp)
    }
}

/// Computes when a change is reported: when nothing has changed for the settle time, or after ten times as long.
package struct Debouncer: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private let settleTime: Duration
    private var limit: Instant?
    /// When the change must be reported. nil: there is no unreported change.
    package private(set) var due: Instant?

    package init(settleTime: Duration) {
        // A greater duration could overflow an instant.
        self.settleTime = min(settleTime, .seconds(1_000_000))
    }

    /// Whether changes are reported at once.
    package var isImmediate: Bool { settleTime <= .zero }

    package mutating func recordChange(at now: Instant) {
        let limit = limit ?? now + settleTime * 10
        self.limit = limit
        due = min(now + settleTime, limit)
    }

    /// The change is reported, or is undone.
    package mutating func reset() {
        (limit, due) = (nil, nil)
    }
}
#endif
