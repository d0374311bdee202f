// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability
import Synchronization

/// Why a sleep of a ``ReachabilityRetryTimer`` has ended.
public enum ReachabilityWake: Sendable, Hashable {
    /// The time is over.
    case time
    /// The target was not reachable, and is.
    case reachable
    /// Packets leave over another interface or gateway, or from another source.
    case path

    /// nil: the sleep goes on.
    fileprivate init?(_ wake: SCNetworkReachabilityWake) {
        switch wake {
        case .time: self = .time
        case .reachable: self = .reachable
        case .path: self = .path
        default: return nil
        }
    }
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
/// sleep at once, also a loss that is over by then. The timer does not see that the target itself is back: that needs the
/// attempts.
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
    ///   - clock: Measures all times. A test may pass one of its own.
    public init(
        _ monitor: ReachabilityMonitor, jitter: Duration = .zero, minimumInterval: Duration = .seconds(1),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        sleeper = Sleeper(NanosecondClock(clock), jitter: jitter, minimumInterval: minimumInterval)
        registration = Registration(sleeper, with: monitor)
    }

    /// Sleeps for the time, or until a change, and returns which. One task at a time may sleep: a change ends one sleep, so
    /// each loop that connects needs a timer of its own.
    ///
    /// Throws `CancellationError` if the task is cancelled, and ``ReachabilityError`` with the code
    /// ``ReachabilityError/Code/cancelled`` if the monitor is.
    public func sleep(for duration: Duration) async throws -> ReachabilityWake {
        let number = sleeper.begin(duration)
        defer { sleeper.end() }
        return try await withTaskCancellationHandler {
            try await sleeper.sleep()
        } onCancel: { [sleeper] in
            sleeper.cancel(number)
        }
    }
}

/// Receives the paths of the monitor, and resumes the task that sleeps.
private final class Sleeper: PathReceiver {
    private typealias Waiter = UnsafeContinuation<ReachabilityWake, any Error>

    private struct State {
        /// Decides which changes are worth an attempt, and when.
        var retry = SCNetworkReachabilityRetry()
        var lastUpdate = PathUpdate(path: .unreachable(.undetermined), number: 0)
        var isClosed = false
        var isSleeping = false
        /// The number of the newest sleep. A cancellation of an earlier one may still be under way.
        var number: UInt64 = 0
        var isCancelled = false
        var waiter: Waiter?
        var end: UInt64 = 0
        var alarm: Task<Void, Never>?

        /// The alarm is for the caller to cancel without the lock: that calls the clock of the user.
        mutating func takeWaiter() -> (Waiter?, Task<Void, Never>?) {
            defer { (waiter, alarm) = (nil, nil) }
            return (waiter, alarm)
        }
    }

    private let state = Mutex(State())
    private let clock: NanosecondClock
    private let jitter: Duration

    init(_ clock: NanosecondClock, jitter: Duration, minimumInterval: Duration) {
        self.clock = clock
        self.jitter = jitter
        state.withLock { SCNetworkReachabilityRetryInit(&$0.retry, minimumInterval.nanoseconds) }
    }

    func receive(_ update: PathUpdate) {
        let now = clock.now()
        let delay = jitter > .zero ? jitter * Double.random(in: 0..<1) : .zero
        var path = SCNetworkReachabilityPath(update.path)
        // Updates may arrive out of order, as the threads that bring them hold no lock.
        let isNew = state.withLock { state in
            guard update.number > state.lastUpdate.number else { return false }
            state.lastUpdate = update
            SCNetworkReachabilityRetryObserve(&state.retry, &path, now, delay.nanoseconds)
            return true
        }
        if isNew { wakeIfDue() }
    }

    func close() {
        let ((waiter, alarm), path) = state.withLock { state in
            state.isClosed = true
            return (state.takeWaiter(), state.lastUpdate.path)
        }
        alarm?.cancel()
        waiter?.resume(throwing: ReachabilityError(.cancelled, path: path))
    }

    func begin(_ duration: Duration) -> UInt64 {
        let now = clock.now()
        return state.withLock { state in
            precondition(!state.isSleeping, "Two tasks sleep on one ReachabilityRetryTimer")
            state.isSleeping = true
            state.isCancelled = false
            state.end = now + duration.nanoseconds
            state.number += 1
            return state.number
        }
    }

    func end() {
        state.withLock { $0.isSleeping = false }
    }

    func cancel(_ number: UInt64) {
        let (waiter, alarm) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard number == state.number else { return (nil, nil) }
            state.isCancelled = true
            return state.takeWaiter()
        }
        alarm?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    func sleep() async throws -> ReachabilityWake {
        try await withUnsafeThrowingContinuation { waiter in
            let error = state.withLock { state -> (any Error)? in
                if state.isClosed { return ReachabilityError(.cancelled, path: state.lastUpdate.path) }
                if state.isCancelled { return CancellationError() }
                state.waiter = waiter
                return nil
            }
            if let error { waiter.resume(throwing: error) } else { wakeIfDue() }
        }
    }

    /// Ends the sleep, or sets the alarm to the next moment that can end it.
    private func wakeIfDue() {
        let now = clock.now()
        let ((waiter, alarm), wake) = state.withLock { state -> ((Waiter?, Task<Void, Never>?), ReachabilityWake) in
            guard state.waiter != nil else { return ((nil, nil), .time) }
            if let wake = ReachabilityWake(SCNetworkReachabilityRetryTake(&state.retry, now, state.end)) {
                return (state.takeWaiter(), wake)
            }
            let time = min(SCNetworkReachabilityRetryGetDue(&state.retry), state.end)
            defer {
                state.alarm = Task.detached { [weak self, clock] in
                    if (try? await clock.sleep(time)) != nil { self?.wakeIfDue() }
                }
            }
            return ((nil, state.alarm), .time)
        }
        alarm?.cancel()
        waiter?.resume(returning: wake)
    }
}
#endif
