// SPDX-License-Identifier: MIT

/// What `watch` has seen of a target so far.
final class TargetHistory {
    let target: Target
    private(set) var state: TargetState?
    /// The states after the first one: the lines that `watch` prints at changes.
    private(set) var changes = 0
    /// When the target became reachable, unreachable or pending.
    private(set) var since: ContinuousClock.Instant
    private var unreachableBefore: Duration = .zero

    init(of target: Target) {
        self.target = target
        since = .now
    }

    func record(_ state: TargetState) {
        if let before = self.state {
            changes += 1
            if before.status != state.status {
                unreachableBefore = unreachable
                since = .now
            }
        } else {
            since = .now
        }
        self.state = state
    }

    /// The time that the target was unreachable. A pending name is not.
    var unreachable: Duration {
        unreachableBefore + (state?.status == .unreachable ? since.duration(to: .now) : .zero)
    }
}
