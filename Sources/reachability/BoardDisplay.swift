// SPDX-License-Identifier: MIT

import Glibc
import NetworkReachability

/// Shows the states on a terminal: a row for each target with its recent history, and the latest changes below as
/// lines. At the end a summary remains on the terminal.
///
/// Nothing else may write to the terminal meanwhile. The board is on the terminal's alternate screen: at the end the
/// terminal shows again what it showed before, and the summary below that.
final class BoardDisplay: StateDisplay {
    /// The terminal has a new size, the user pressed Ctrl-Z, or something ends the process.
    static let signals = [SIGWINCH, SIGTSTP, SIGQUIT, SIGHUP]

    static var isPossible: Bool {
        isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
    }

    private struct Row {
        let history: TargetHistory
        var since = ""
        /// The latest marks, oldest first.
        var marks: [BoardMark] = []
    }

    private let isColoured: Bool
    private let keyboard: Keyboard
    private let start = ContinuousClock.now
    private var indices: [ObjectIdentifier: Int] = [:]
    private var rows: [Row] = []
    private var changes: [BoardChange] = []
    private var isShown = false

    init(_ histories: [TargetHistory], keyboard: Keyboard, isColoured: Bool) {
        self.keyboard = keyboard
        self.isColoured = isColoured
        for history in histories {
            indices[ObjectIdentifier(history.target)] = rows.count
            rows.append(Row(history: history))
        }
    }

    /// The state is already in the target's history.
    func show(_ target: Target, _ state: TargetState) throws(ToolError) {
        guard let index = indices[ObjectIdentifier(target)] else { return }
        let now = LocalTime.now
        let mark = BoardMark(state.status)
        if rows[index].marks.last != mark { rows[index].since = now.seconds }
        rows[index].marks = (rows[index].marks + [mark]).suffix(20)
        changes = (changes + [BoardChange(time: now, label: target.label, state: state)]).suffix(100)
        // The first states come together: draw once.
        if rows.allSatisfy({ $0.history.state != nil }) { try redraw() }
    }

    func suspend() throws(ToolError) {
        guard isShown else { return }
        isShown = false
        keyboard.close()
        try StandardOutput.write("\u{1B}[?25h\u{1B}[?1049l")
    }

    func redraw() throws(ToolError) {
        keyboard.open()
        let (width, height) = BoardDisplay.size
        // The last row says how to leave.
        var lines = table(width: width)
        let room = max(height - 1, 1)
        if lines.count > room { lines = lines.prefix(room - 1) + [sum(of: rows[max(room - 2, 0)...])] }
        if room - lines.count > 1 {
            lines += [TerminalLine()] + changes.suffix(room - lines.count - 1).map { $0.line(width: width) }
        }
        // Erases a line before it is written: afterwards, that could erase the last character of a full line.
        let picture = lines.map { "\u{1B}[K\($0.text(width: width, inColour: isColoured))\r\n" }.joined()
        let enter = isShown ? "" : "\u{1B}[?1049h\u{1B}[?25l"
        isShown = true
        let foot = (keyboard.isOpen ? "q or Ctrl-C: leave" : "Ctrl-C: leave").prefix(columns: width)
        try StandardOutput.write("\(enter)\u{1B}[H\(picture)\u{1B}[J\u{1B}[\(height);1H\(foot)")
    }

    func finish() throws(ToolError) {
        guard isShown else { return }
        try suspend()
        for line in BoardSummary(of: rows.map(\.history)).lines(width: BoardDisplay.size.width) {
            try StandardOutput.writeLine(line)
        }
        try StandardOutput.writeLine("Watched for \(clockText(start.duration(to: .now))), until \(LocalTime.now.text)")
    }

    /// The marks of rows for which the terminal has no room.
    private func sum(of rows: some Collection<Row>) -> TerminalLine {
        var line = TerminalLine("(\(rows.count) more:")
        for mark in BoardMark.allCases {
            let count = rows.count { $0.marks.last == mark }
            if count > 0 { line.append(" \(count)\(mark.rawValue)", mark.colour) }
        }
        line.append(")")
        return line
    }

    private func table(width: Int) -> [TerminalLine] {
        let columns = [
            TableColumn("TARGET", rows.map(\.history.target.label)),
            TableColumn("STATUS", rows.map { $0.history.state?.shortText ?? "" }),
            TableColumn("INTERFACE", rows.map { $0.history.state?.path.interface?.name.escaped ?? "-" }),
            TableColumn("SINCE", rows.map(\.since)),
            TableColumn("HISTORY", []),
        ]
        let widths = TableColumn.fit(columns, [.shortened, .kept, .droppable, .droppable, .droppable], width: width)
        return (0...rows.count).map { number in
            let marks = number > 0 ? rows[number - 1].marks : []
            var line = TableColumn.line(number, of: columns, widths) { column in
                column == 1 ? marks.last?.colour : nil
            }
            if widths.last != 0 {
                for mark in marks.suffix(max(width - line.columns, 0)) { line.append(mark.rawValue, mark.colour) }
            }
            return line
        }
    }

    static var size: (width: Int, height: Int) {
        // struct winsize: rows, columns, pixels. The C type is in a private module.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size[0] > 0, size[1] > 0 else {
            return (80, 24)
        }
        return (Int(size[1]), Int(size[0]))
    }
}
