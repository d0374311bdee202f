// SPDX-License-Identifier: MIT

/// The states of targets, after a wait until their names are looked up. At the deadline a name can still be pending.
func resolvedStates(of targets: [Target], until deadline: ContinuousClock.Instant) throws(ToolError) -> [TargetState] {
    let loop = try EventLoop()
    var states: [TargetState] = []
    for target in targets {
        let state = try target.state()
        states.append(state)
        // The schedule starts the look-up of a name.
        if state.isPending { try target.schedule(on: loop.runLoop) }
    }
    while states.contains(where: \.isPending), try loop.next(until: deadline) != .timeout {
        for (index, target) in targets.enumerated() where states[index].isPending {
            states[index] = try target.state()
        }
    }
    return states
}
