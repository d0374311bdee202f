// SPDX-License-Identifier: MIT

/// A change, for the lines below the board.
struct BoardChange {
    let time: LocalTime
    let label: String
    let state: TargetState

    /// A narrow terminal cuts the end of the line. So the time and the name become shorter, and the reason comes first.
    func line(width: Int) -> TerminalLine {
        let time = width < 60 ? time.seconds : time.timeOfDay
        let text = state.lineWithReasonFirst
        let first = text.split(separator: "  ").first.map { String($0).columns } ?? 0
        let name = label.shortened(columns: max(width - time.columns - first - 4, 8))
        return TerminalLine("\(time)  \(name)  \(text)")
    }
}
