// SPDX-License-Identifier: MIT

/// Passes the state of each target to `report` as soon as it is known: at once, or when the name is looked up. At the
/// deadline a name is pending. `beforeWaiting`: no other state is known now. A target for which the kernel cannot be queried does not affect the others.
func reportFirstStates(
    of candidates: [Result<Target, ToolError>], until deadline: ContinuousClock.Instant,
    to report: (Int, Result<TargetState, ToolError>) throws(ToolError) -> Void,
    beforeWaiting: () throws(ToolError) -> Void = {}
) throws(ToolError) {
    let loop = try EventLoop()
    let changed = ChangedTargets()
    var waiting: [Int: Target] = [:]
    for (index, candidate) in candidates.enumerated() {
        let result = Result { () throws(ToolError) in
            let target = try candidate.get()
            let state = try target.state()
            guard state.status == .pending else { return state }
            target.onChange = { [changed] _ in changed.indices.insert(index) }
            try target.schedule(on: loop.runLoop)  // starts the look-up
            waiting[index] = target
            return state
        }
        if waiting[index] == nil { try report(index, result) }
    }
    while !waiting.isEmpty {
        try beforeWaiting()
        let isOver = try loop.next(until: deadline) == .timeout
        for index in isOver ? waiting.keys.sorted() : changed.takeAll() {
            guard let target = waiting[index] else { continue }
            let result = Result { () throws(ToolError) in try target.state() }
            if case .success(let state) = result, state.status == .pending, !isOver { continue }
            waiting[index] = nil
            try report(index, result)
        }
    }
}
