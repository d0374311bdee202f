// SPDX-License-Identifier: MIT

import Glibc
import NetworkReachability

/// Shows the states on a terminal: a row for each target with its recent history, and the latest changes below as
/// lines.
///
/// Nothing else may write to the terminal meanwhile. The table is on the terminal's alternate screen: at the end the
/// terminal shows again what it showed before.
final class TableDisplay: StateDisplay {
    /// The terminal has a new size, or the user pressed Ctrl-Z.
    static let signals = [SIGWINCH, SIGTSTP]

    static var isPossible: Bool {
        isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
    }

    private struct Row {
        var target: String
        var state: TargetState?
        var since = ""
        /// The latest marks, oldest first.
        var history: [HistoryMark] = []
    }

    /// A state in the history.
    private enum HistoryMark: String {
        case reachable = "+"
        case unreachable = "-"
        /// The name is not looked up yet.
        case pending = "?"

        init(_ state: TargetState) {
            self = state.isPending ? .pending : state.path.isReachable ? .reachable : .unreachable
        }

        var colour: TerminalLine.Colour {
            switch self {
            case .reachable: .green
            case .unreachable: .red
            case .pending: .yellow
            }
        }
    }

    /// False if the user does not want colours: https://no-color.org
    private let isColoured = getenv("NO_COLOR").map { $0[0] == 0 } ?? true

    private var rows: [ObjectIdentifier: Int] = [:]
    private var table: [Row] = []
    private var changes: [String] = []
    private var isShown = false

    init(_ targets: [Target]) {
        for target in targets {
            rows[ObjectIdentifier(target)] = table.count
            table.append(Row(target: target.label))
        }
    }

    func show(_ target: Target, _ state: TargetState) throws(ToolError) {
        guard let index = rows[ObjectIdentifier(target)] else { return }
        let now = TimeOfDay.now
        if table[index].state?.path.isReachable != state.path.isReachable { table[index].since = now.seconds }
        table[index].state = state
        table[index].history = (table[index].history + [HistoryMark(state)]).suffix(20)
        changes = (changes + ["\(now.text)  \(target.label)  \(state.lineWithReasonFirst)"]).suffix(100)
        // The first states come together: draw once.
        if table.allSatisfy({ $0.state != nil }) { try redraw() }
    }

    func suspend() throws(ToolError) {
        guard isShown else { return }
        isShown = false
        try StandardOutput.write("\u{1B}[?25h\u{1B}[?1049l")
    }

    func redraw() throws(ToolError) {
        let (width, height) = TableDisplay.size
        let table = tableLines
        // The last row is for the cursor.
        var lines = Array(table.prefix(max(height - 1, 1)))
        if lines.count < table.count {
            lines[lines.count - 1] = TerminalLine("(\(table.count - lines.count + 1) more)")
        }
        let room = height - 1 - lines.count - 1
        if room > 0 { lines += [TerminalLine()] + changes.suffix(room).map { TerminalLine($0) } }
        let picture = lines.map { $0.text(width: width, inColour: isColoured) + "\u{1B}[K\r\n" }.joined()
        let enter = isShown ? "" : "\u{1B}[?1049h\u{1B}[?25l"
        isShown = true
        try StandardOutput.write(enter + "\u{1B}[H" + picture + "\u{1B}[J")
    }

    private var tableLines: [TerminalLine] {
        let heads = ["TARGET", "STATUS", "INTERFACE", "SINCE"]
        let cells = table.map {
            [$0.target, $0.state?.status ?? "", $0.state?.path.interface?.name.escaped ?? "-", $0.since]
        }
        let widths = heads.indices.map { column in ([heads] + cells).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String], status: TerminalLine.Colour? = nil) -> TerminalLine {
            var line = TerminalLine()
            for (column, text) in cells.enumerated() {
                let end = line.count + widths[column] + 2
                line.append(text, column == 1 ? status : nil)
                line.pad(to: end)
            }
            return line
        }
        var head = line(heads)
        head.append("HISTORY")
        return [head]
            + zip(table, cells).map { row, cells in
                var line = line(cells, status: row.history.last?.colour)
                for mark in row.history { line.append(mark.rawValue, mark.colour) }
                line.pad(to: head.count)
                return line
            }
    }

    private static var size: (width: Int, height: Int) {
        // struct winsize: rows, columns, pixels. The C type is in a private module.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size[0] > 0, size[1] > 0 else {
            return (80, 24)
        }
        return (Int(size[1]), Int(size[0]))
    }
}

extension TargetState {
    fileprivate var status: String {
        path.isReachable ? "reachable" : reasonText ?? "not reachable"
    }
}
