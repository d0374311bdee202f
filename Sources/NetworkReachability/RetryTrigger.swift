// SPDX-License-Identifier: MIT

#if os(Linux)
/// Decides which changes are worth an attempt, and when. The caller brings the paths and the time.
package struct RetryTrigger: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// What must change while the target is reachable.
    private struct Way: Equatable {
        var interface: UInt32?
        var gateway, source: ReachabilityPath.Address?
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
