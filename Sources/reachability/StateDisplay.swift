// SPDX-License-Identifier: MIT

/// Where the states of targets are shown.
protocol StateDisplay {
    func show(_ target: Target, _ state: TargetState) throws(ToolError)
    /// Puts back what was changed, at the end and before the process is stopped.
    func suspend() throws(ToolError)
    /// Shows everything again: the process was stopped, or the terminal has another size.
    func redraw() throws(ToolError)
}
