// SPDX-License-Identifier: MIT

import Glibc

/// The states on a terminal: a row a target, with its recent history, and below them the latest changes as lines.
///
/// Nothing else may be written to the terminal meanwhile. It lives on the terminal's second screen, so what was there
/// before comes back at the end.
final class Board: Display {
    /// What the terminal sends: another size, and the wish to stop.
    static let signals = [SIGWINCH, SIGTSTP]

    static var isPossible: Bool {
        isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
    }

    private struct Row {
        var target: String
        var state: State?
        var since = ""
        /// The latest, oldest first.
        var history: [Mark] = []
    }

    /// What is left of a state in the history.
    private enum Mark: String {
        case reachable = "+"
        case unreachable = "-"
        /// No server has answered for the name.
        case pending = "?"

        init(_ state: State) {
            self = state.isPending ? .pending : state.isReachable ? .reachable : .unreachable
        }

        var colour: PaintedLine.Colour {
            switch self {
            case .reachable: .green
            case .unreachable: .red
            case .pending: .yellow
            }
        }
    }

    /// Not where the user does not want colours: https://no-color.org
    private let isColoured = getenv("NO_COLOR").map { $0[0] == 0 } ?? true

    private var rows: [ObjectIdentifier: Int] = [:]
    private var table: [Row] = []
    private var changes: [String] = []
    private var isShown = false

    init(_ targets: [Target]) {
        for target in targets {
            rows[ObjectIdentifier(target)] = table.count
            table.append(Row(target: target.text))
        }
    }

    func show(_ target: Target, _ state: State) throws(Failure) {
        guard let index = rows[ObjectIdentifier(target)] else { return }
        let now = TimeOfDay.now
        if table[index].state?.isReachable != state.isReachable { table[index].since = now.seconds }
        table[index].state = state
        table[index].history = (table[index].history + [Mark(state)]).suffix(20)
        changes = (changes + ["\(now.text)  \(target.text)  \(state.lineByWeight)"]).suffix(100)
        // The first states come all at once: one picture is enough.
        if table.allSatisfy({ $0.state != nil }) { try redraw() }
    }

    func suspend() throws(Failure) {
        guard isShown else { return }
        isShown = false
        try Output.write("\u{1B}[?25h\u{1B}[?1049l")
    }

    func redraw() throws(Failure) {
        let (width, height) = Board.size
        let table = tableLines
        // The cursor takes the last row.
        var lines = Array(table.prefix(max(height - 1, 1)))
        if lines.count < table.count {
            lines[lines.count - 1] = PaintedLine("(\(table.count - lines.count + 1) more)")
        }
        let room = height - 1 - lines.count - 1
        if room > 0 { lines += [PaintedLine()] + changes.suffix(room).map { PaintedLine($0) } }
        let picture = lines.map { $0.text(width: width, inColour: isColoured) + "\u{1B}[K\r\n" }.joined()
        let enter = isShown ? "" : "\u{1B}[?1049h\u{1B}[?25l"
        isShown = true
        try Output.write(enter + "\u{1B}[H" + picture + "\u{1B}[J")
    }

    private var tableLines: [PaintedLine] {
        let heads = ["TARGET", "STATUS", "INTERFACE", "SINCE"]
        let cells = table.map { [$0.target, $0.state?.status ?? "", $0.state?.interface?.name ?? "-", $0.since] }
        let widths = heads.indices.map { column in ([heads] + cells).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String], status: PaintedLine.Colour? = nil) -> PaintedLine {
            var line = PaintedLine()
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
        // struct winsize: rows, columns, pixels. Its own type cannot be used, as the module that has it is private.
        var size: [UInt16] = [0, 0, 0, 0]
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size[0] > 0, size[1] > 0 else {
            return (80, 24)
        }
        return (Int(size[1]), Int(size[0]))
    }
}

extension State {
    fileprivate var status: String {
        isReachable ? "reachable" : reasonText ?? "not reachable"
    }
}
