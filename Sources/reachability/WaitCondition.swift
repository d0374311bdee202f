// SPDX-License-Identifier: MIT

/// What `wait` waits for: which targets are as wanted, and for how long.
struct WaitCondition {
    /// Whether targets should be unreachable instead.
    let isNegated: Bool
    /// Whether one target is enough.
    let needsOne: Bool
    /// How long a target must be as wanted.
    let time: Duration

    /// Since when each target is as wanted.
    private var since: [ContinuousClock.Instant?]

    init(targets count: Int, isNegated: Bool, needsOne: Bool, time: Duration) {
        self.isNegated = isNegated
        self.needsOne = needsOne
        self.time = time
        since = Array(repeating: nil, count: count)
    }

    /// A name that is not looked up yet is neither reachable nor unreachable.
    func isAsWanted(_ state: TargetState) -> Bool {
        state.status == (isNegated ? .unreachable : .reachable)
    }

    mutating func record(_ state: TargetState, of index: Int, at now: ContinuousClock.Instant) {
        since[index] = isAsWanted(state) ? since[index] ?? now : nil
    }

    func isMet(_ index: Int, at now: ContinuousClock.Instant) -> Bool {
        since[index].map { $0 + time <= now } ?? false
    }

    func isMet(at now: ContinuousClock.Instant) -> Bool {
        needsOne ? since.indices.contains { isMet($0, at: now) } : since.indices.allSatisfy { isMet($0, at: now) }
    }

    /// When the next target will be met, if it stays as wanted.
    func nextTime(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        since.compactMap { $0.map { $0 + time } }.filter { $0 > now }.min()
    }
}
