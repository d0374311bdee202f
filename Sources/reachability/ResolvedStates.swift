// SPDX-License-Identifier: MIT

/// The states of targets, after a wait until their names are looked up. At the deadline a name can still be pending. A
/// target for which the kernel cannot be queried does not affect the others.
func resolvedStates(
    of targets: [Target], until deadline: ContinuousClock.Instant
) throws(ToolError) -> [Result<TargetState, ToolError>] {
    let loop = try EventLoop()
    var states: [Result<TargetState, ToolError>] = []
    for target in targets {
        states.append(
            Result { () throws(ToolError) in
                let state = try target.state()
                // The schedule starts the look-up of a name.
                if state.status == .pending { try target.schedule(on: loop.runLoop) }
                return state
            })
    }
    while states.contains(where: \.isPending), try loop.next(until: deadline) != .timeout {
        for (index, target) in targets.enumerated() where states[index].isPending {
            states[index] = Result { () throws(ToolError) in try target.state() }
        }
    }
    return states
}

extension Result<TargetState, ToolError> {
    fileprivate var isPending: Bool {
        if case .success(let state) = self { state.status == .pending } else { false }
    }
}
