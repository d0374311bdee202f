// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// Why a sleep of a ``ReachabilityRetryTimer`` has ended.
public enum ReachabilityWake: Sendable, Hashable {
    /// The time is over.
    case time
    /// The target was not reachable, and is.
    case reachable
    /// Packets leave over another interface or gateway, or from another source.
    case path
}

/// The sleep between two attempts to connect. It ends early when an attempt has become worth while.
///
/// ```swift
/// func connect() async -> Bool { true }
///
/// let timer = ReachabilityRetryTimer(try ReachabilityMonitor(host: "db.internal"))
/// var pause = Duration.seconds(1)
/// while await !connect() {  // the first attempt is always made
///     let wake = try await timer.sleep(for: pause)
///     pause = wake == .time ? min(pause * 2, .seconds(120)) : .seconds(1)
/// }
/// ```
///
/// A sleep ends early if the target becomes reachable, or if its path gets another interface, gateway or source while it
/// is reachable. If the target is not reachable, the sleep lasts its time. What changes during the attempt ends the next
/// sleep at once, unless it is undone before that sleep begins. The timer does not see that the target itself is back: that
/// needs the attempts.
///
/// The timer keeps its monitor alive, and the kernel is watched while the timer exists. A sleep blocks no thread.
public final class ReachabilityRetryTimer: Sendable {
    private let sleeper: Sleeper
    private let registration: Registration

    /// Makes a timer for one loop that connects. The kernel is watched from this call on.
    ///
    /// - Parameters:
    ///   - monitor: Watches the target.
    ///   - jitter: A change ends the sleep after a random part of this time. 250 milliseconds are good for many clients
    ///     of one server, which must not come all at once.
    ///   - minimumInterval: If changes go on, they end one sleep in this time.
    public init(_ monitor: ReachabilityMonitor, jitter: Duration = .zero, minimumInterval: Duration = .seconds(1)) {
        sleeper = Sleeper(jitter: jitter, minimumInterval: minimumInterval)
        registration = Registration(sleeper, with: monitor)
    }

    /// Sleeps for the time, or until a change, and returns which. One task at a time may sleep: a change ends one sleep, so
    /// each loop that connects needs a timer of its own.
    ///
    /// Throws `CancellationError` if the task is cancelled, and ``ReachabilityError`` with the code ``ReachabilityError/Code/cancelled`` if the monitor is.
    public func sleep(for duration: Duration) async throws -> ReachabilityWake {
        // At most a century, because an instant can overflow.
        let end = ContinuousClock.now + Swift.min(Swift.max(duration, .zero), .seconds(3_000_000_000))
        let number = sleeper.begin()
        defer { sleeper.end() }
        return try await withTaskCancellationHandler {
            try await sleeper.sleep(until: end)
        } onCancel: { [sleeper] in
            sleeper.cancel(number)
        }
    }
}

/// Receives the paths of the monitor, and resumes the task that sleeps.
private final class Sleeper: PathReceiver {
    private typealias Waiter = UnsafeContinuation<ReachabilityWake, any Error>

    private struct State {
        var trigger: RetryTrigger
        var lastUpdate = PathUpdate(path: .unreachable(.undetermined), number: 0)
        var isClosed = false
        var isSleeping = false
        /// The number of the newest sleep. A cancellation of an earlier one may still be under way.
        var number: UInt64 = 0
        var isCancelled = false
        var waiter: Waiter?
        var end = ContinuousClock.now
        var alarm: Task<Void, Never>?

        mutating func takeWaiter() -> Waiter? {
            defer { waiter = nil }
            alarm?.cancel()
            alarm = nil
            return waiter
        }
    }

    private let state: Mutex<State>
    private let jitter: Duration

    init(jitter: Duration, minimumInterval: Duration) {
        self.jitter = jitter
        state = Mutex(State(trigger: RetryTrigger(minimumInterval: minimumInterval)))
    }

    func receive(_ update: PathUpdate) {
        let now = ContinuousClock.now
        let delay = jitter > .zero ? jitter * Double.random(in: 0..<1) : .zero
        // Updates may arrive out of order, as the threads that bring them hold no lock.
        let isNew = state.withLock { state in
            guard update.number > state.lastUpdate.number else { return false }
            state.lastUpdate = update
            state.trigger.observe(update.path, at: now, delay: delay)
            return true
        }
        if isNew { wakeIfDue() }
    }

    func close() {
        let (waiter, path) = state.withLock { state in
            state.isClosed = true
            return (state.takeWaiter(), state.lastUpdate.path)
        }
        waiter?.resume(throwing: ReachabilityError(.cancelled, path: path))
    }

    func begin() -> UInt64 {
        state.withLock { state in
            precondition(!state.isSleeping, "Two tasks sleep on one ReachabilityRetryTimer")
            state.isSleeping = true
            state.isCancelled = false
            state.number += 1
            return state.number
        }
    }

    func end() {
        state.withLock { $0.isSleeping = false }
    }

    func cancel(_ number: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard number == state.number else { return nil }
            state.isCancelled = true
            return state.takeWaiter()
        }
        waiter?.resume(throwing: CancellationError())
    }

    func sleep(until end: ContinuousClock.Instant) async throws -> ReachabilityWake {
        try await withUnsafeThrowingContinuation { waiter in
            let error = state.withLock { state -> (any Error)? in
                if state.isClosed { return ReachabilityError(.cancelled, path: state.lastUpdate.path) }
                if state.isCancelled { return CancellationError() }
                state.waiter = waiter
                state.end = end
                return nil
            }
            if let error { waiter.resume(throwing: error) } else { wakeIfDue() }
        }
    }

    /// Ends the sleep, or sets the alarm to the next moment that can end it.
    private func wakeIfDue() {
        let (waiter, wake) = state.withLock { state -> (Waiter?, ReachabilityWake) in
            guard state.waiter != nil else { return (nil, .time) }
            if let wake = state.trigger.take(at: .now, before: state.end) { return (state.takeWaiter(), wake) }
            let time = state.trigger.next(before: state.end).time
            state.alarm?.cancel()
            state.alarm = Task.detached { [weak self] in
                if (try? await Task.sleep(until: time, clock: .continuous)) != nil { self?.wakeIfDue() }
            }
            return (nil, .time)
        }
        waiter?.resume(returning: wake)
    }
}

/// Decides which changes are worth an attempt, and when. The caller brings the paths and the time.
package struct RetryTrigger: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// What must change while the target is reachable.
    private struct Way: Equatable {
        var interface: UInt32?
        var gateway, source: IPAddress?
    }

    private let minimumInterval: Duration
    /// The last way over which the target was reachable.
    private var last: Way?
    private var wasLost = false
    private var change: (wake: ReachabilityWake, due: Instant)?
    private var notBefore: Instant?

    package init(minimumInterval: Duration) {
        self.minimumInterval = minimumInterval
    }

    /// Takes the next path. That of a pending name is the default path, and says nothing. A change is due after the
    /// delay.
    package mutating func observe(_ path: ReachabilityPath, at now: Instant, delay: Duration = .zero) {
        if path.reason == .namePending { return }
        if !path.isReachable {
            wasLost = true
            change = nil
            return
        }
        let way = Way(interface: path.interface?.index, gateway: path.gateway, source: path.source)
        if change == nil, wasLost || last != nil && last != way {
            change = (wasLost ? .reachable : .path, now + delay)
        }
        wasLost = false
        last = way
    }

    /// When the sleep ends if nothing changes, and why.
    package func next(before end: Instant) -> (time: Instant, wake: ReachabilityWake) {
        guard let change else { return (end, .time) }
        let due = notBefore.map { max($0, change.due) } ?? change.due
        return due <= end ? (due, change.wake) : (end, .time)
    }

    /// Returns why to wake up now. nil: sleep on.
    package mutating func take(at now: Instant, before end: Instant) -> ReachabilityWake? {
        let (time, wake) = next(before: end)
        if now < time { return nil }
        if wake != .time { notBefore = now + minimumInterval }
        change = nil
        return wake
    }
}
#endif
