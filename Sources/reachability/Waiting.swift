// SPDX-License-Identifier: MIT

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
