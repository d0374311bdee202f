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

/// The work of `wait`: reads the states of targets, and prints each target that is met.
struct Waiting {
    let targets: [Target]
    private(set) var states: [TargetState] = []
    private var condition: WaitCondition
    private let display: LineDisplay?
    private var isPrinted: [Bool]
    private var now = ContinuousClock.now

    /// `display`: for the targets that are met; nil: they are not printed.
    init(targets: [Target], condition: WaitCondition, display: LineDisplay?) {
        self.targets = targets
        self.condition = condition
        self.display = display
        isPrinted = targets.map { _ in false }
    }

    /// Returns whether the condition is met.
    mutating func update() throws(ToolError) -> Bool {
        now = .now
        states.removeAll(keepingCapacity: true)
        for (index, target) in targets.enumerated() {
            let state = try target.state()
            states.append(state)
            condition.record(state, of: index, at: now)
            if let display, !isPrinted[index], condition.isMet(index, at: now) {
                isPrinted[index] = true
                try display.show(target, state)
            }
        }
        return condition.isMet(at: now)
    }

    /// When it may be met without a change.
    var nextTime: ContinuousClock.Instant? { condition.nextTime(after: now) }

    func isMet(_ index: Int) -> Bool { condition.isMet(index, at: now) }

    /// What is wrong with a target that is not met.
    func lineAtTimeOut(_ index: Int) -> String {
        condition.isAsWanted(states[index]) ? "not for long enough" : states[index].lineAtTimeOut
    }
}
