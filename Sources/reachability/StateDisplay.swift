// SPDX-License-Identifier: MIT

/// Shows the states of targets.
protocol StateDisplay {
    func show(_ target: Target, _ state: TargetState) throws(ToolError)
    /// The next state may come late.
    func flush() throws(ToolError)
    /// Obeys keys. Returns false if the user wants to leave.
    func obey(_ keys: String) throws(ToolError) -> Bool
    /// Restores the terminal: before the process stops, or ends for an error.
    func suspend() throws(ToolError)
    /// Shows everything again: after a stop, or when the terminal has a new size.
    func redraw() throws(ToolError)
    /// Restores the terminal, and prints what should remain.
    func finish() throws(ToolError)
}

extension StateDisplay {
    func flush() {}
    func obey(_ keys: String) -> Bool { true }
    func suspend() {}
    func redraw() {}
    func finish() {}
}
