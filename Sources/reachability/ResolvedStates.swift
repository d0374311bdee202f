// SPDX-License-Identifier: MIT

/// How targets are, names when they have been looked up; a name that nobody has answered for by then is still pending.
func resolvedStates(of targets: [Target], until deadline: ContinuousClock.Instant) throws(ToolError) -> [TargetState] {
    let loop = try EventLoop()
    var states: [TargetState] = []
    for target in targets {
        let state = try target.state()
        states.append(state)
        // Only a name's answer is waited for, and asking for it begins with the schedule.
        if state.isPending { try target.schedule(on: loop.runLoop) }
    }
    while states.contains(where: \.isPending), try loop.next(until: deadline) != .timeout {
        for (index, target) in targets.enumerated() where states[index].isPending {
            states[index] = try target.state()
        }
    }
    return states
}
