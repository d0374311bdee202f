// SPDX-License-Identifier: MIT

/// A change, for the lines below the board.
struct BoardChange {
    let time: LocalTime
    let label: String
    let state: TargetState

    /// A narrow terminal cuts the end of the line. So the time and the name become shorter, and the reason comes first.
    /// `hasName`: whether the line needs the name of the target.
    func line(width: Int, hasName: Bool = true) -> TerminalLine {
        let time = width < 60 ? time.seconds : time.timeOfDay
        let text = state.lineWithReasonFirst
        let first = text.split(separator: "  ").first.map { String($0).columns } ?? 0
        if !hasName { return TerminalLine("\(time)  \(text)") }
        let name = label.shortened(columns: max(width - time.columns - first - 4, 8))
        return TerminalLine("\(time)  \(name)  \(text)")
    }
}
