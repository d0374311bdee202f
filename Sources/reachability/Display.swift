// SPDX-License-Identifier: MIT

/// Where the states of targets are shown.
protocol Display {
    func show(_ target: Target, _ state: State) throws(Failure)
    /// Puts back what was changed, at the end and before the process is stopped.
    func suspend() throws(Failure)
    /// Shows everything again: the process was stopped, or the terminal has another size.
    func redraw() throws(Failure)
}
