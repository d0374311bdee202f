// SPDX-License-Identifier: MIT

/// Shows the states of targets.
protocol StateDisplay {
    func show(_ target: Target, _ state: TargetState) throws(ToolError)
    /// Restores the terminal: before the process stops, or ends for an error.
    func suspend() throws(ToolError)
    /// Shows everything again: after a stop, or when the terminal has a new size.
    func redraw() throws(ToolError)
    /// Restores the terminal, and prints what should remain.
    func finish() throws(ToolError)
}

extension StateDisplay {
    func suspend() {}
    func redraw() {}
    func finish() {}
}
