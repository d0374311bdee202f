// SPDX-License-Identifier: MIT

/// Shows the states of targets.
protocol StateDisplay {
    func show(_ target: Target, _ state: TargetState) throws(ToolError)
    /// Restores the terminal: at the end, and before the process stops.
    func suspend() throws(ToolError)
    /// Shows everything again: after a stop, or when the terminal has a new size.
    func redraw() throws(ToolError)
}
