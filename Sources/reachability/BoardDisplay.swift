// SPDX-License-Identifier: MIT

import Glibc
import NetworkReachability

/// Shows the states on a terminal: a row for each target with its recent history, and the latest changes below as
/// lines. At the end a summary remains on the terminal.
///
/// Nothing else may write to the terminal meanwhile. The board is on the terminal's alternate screen: at the end the
/// terminal shows again what it showed before, and the summary below that.
final class BoardDisplay: StateDisplay {
    /// The terminal has a new size, the user pressed Ctrl-Z, the process continues, or something ends it.
    static let signals = [SIGWINCH, SIGTSTP, SIGCONT, SIGQUIT, SIGHUP]

    static var isPossible: Bool {
        isatty(STDOUT_FILENO) == 1 && getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
    }

    private let isColoured: Bool
    private let keyboard: Keyboard
    private let start = ContinuousClock.now
    private var indices: [ObjectIdentifier: Int] = [:]
    private var rows: [BoardRow]
    /// The rows that pass the filter, in the order of the screen.
    private var order: [Int] = []
    private var failing: [Int] = []
    private var pendingCount = 0
    private var view = BoardView()
    private var changes: [BoardChange] = []
    /// Of the changes that come together: each within a second of the last. Their rows keep their order.
    private var number = 1
    private var latest = ContinuousClock.now
    private var isChanged = false
    private var isShown = false
    private let labelWidth: Int

    init(_ histories: [TargetHistory], keyboard: Keyboard, isColoured: Bool) {
        self.keyboard = keyboard
        self.isColoured = isColoured
        rows = histories.map(BoardRow.init)
        labelWidth = histories.map(\.target.label.columns).max() ?? 0
        for (index, history) in histories.enumerated() { indices[ObjectIdentifier(history.target)] = index }
    }

    /// The state is already in the target's history.
    func show(_ target: Target, _ state: TargetState) {
        guard let index = indices[ObjectIdentifier(target)] else { return }
        let now = ContinuousClock.now
        if latest.duration(to: now) >= .seconds(1) { number += 1 }
        latest = now
        changes.append(rows[index].record(state, at: .now, number: number))
        if changes.count > 200 { changes.removeFirst(100) }
        isChanged = true
    }

    /// Changes that come together are drawn once.
    func flush() throws(ToolError) {
        guard isChanged else { return }
        isChanged = false
        arrange()
        try redraw()
    }

    /// Returns false if the user wants to leave.
    func obey(_ keys: String) throws(ToolError) -> Bool {
        for key in BoardKey.keys(in: keys) {
            let filter = view.filter
            guard view.obey(key, order: order, room: room) else { return false }
            if view.filter != filter { arrange() }
        }
        try redraw()
        return true
    }

    private func arrange() {
        let filter = view.filter.lowercased()
        // sorted() keeps the order of equal rows, that of the targets.
        let all = rows.indices.sorted { BoardRow.comesBefore(rows[$0], rows[$1]) }
        failing = all.filter { rows[$0].mark == .unreachable }
        pendingCount = rows.count { $0.mark == .pending }
        order = all.filter { filter.isEmpty || rows[$0].history.target.label.lowercased().contains(filter) }
    }

    func suspend() throws(ToolError) {
        guard isShown else { return }
        isShown = false
        keyboard.close()
        try StandardOutput.write("\u{1B}[?25h\u{1B}[?1049l")
    }

    /// The rows of targets for which the screen has room: below them are a summary and how to leave.
    private var room: Int { max(BoardDisplay.size.height - 3, 0) }

    func redraw() throws(ToolError) {
        keyboard.open()
        let (width, height) = BoardDisplay.size
        let picture = lines(width: width, height: height - 2)
        // Erases a line before it is written: afterwards, that could erase the last character of a full line.
        let text = picture.map { "\u{1B}[K\($0.text(width: width, inColour: isColoured))\r\n" }.joined()
        let enter = isShown ? "" : "\u{1B}[?1049h\u{1B}[?25l"
        isShown = true
        let summary =
            height > 1 ? "\u{1B}[\(height - 1);1H" + summary.text(width: width, inColour: isColoured) + "\r\n" : ""
        let foot = foot(width: width)
        try StandardOutput.write("\(enter)\u{1B}[H\(text)\u{1B}[J\(summary)\u{1B}[\(height);1H\(foot)")
    }

    private func lines(width: Int, height: Int) -> [TerminalLine] {
        if let detail = view.detail {
            return Array(rows[detail].details(width: width, height: height).prefix(max(height, 0)))
        }
        if height < 1 { return [] }
        var lines = table(view.places(of: order.count, room: height - 1), width: width)
        if height - lines.count > 1 {
            lines += [TerminalLine()] + changes.suffix(height - lines.count - 1).map { $0.line(width: width) }
        }
        return lines
    }

    private func foot(width: Int) -> String {
        let leave = keyboard.isOpen ? "q or Ctrl-C: leave" : "Ctrl-C: leave"
        let text =
            if !keyboard.isOpen {
                leave
            } else if view.isTyping {
                "/\(view.filter.escaped)_  Enter: done, Esc: all, Ctrl-C: leave"
            } else if view.detail != nil {
                "Esc: back, \(leave)"
            } else {
                "arrows, /: filter, Enter: details, \(leave)"
            }
        return text.columns <= width ? text : leave.prefix(columns: width)
    }

    /// How many targets fail, and which. It is true for all targets, also those that are not on the screen.
    private var summary: TerminalLine {
        let places = view.places(of: order.count, room: room)
        var line = TerminalLine()
        if failing.isEmpty {
            line.append(pendingCount == rows.count ? "" : "none of \(rows.count) fails", .green)
        } else {
            line.append("\(failing.count) of \(rows.count) \(failing.count == 1 ? "fails" : "fail")", .red)
        }
        if pendingCount > 0 {
            line.append("\(line.columns > 0 ? ", " : "")\(pendingCount) pending", .yellow)
        }
        if places.count < rows.count, view.selection != nil || !view.filter.isEmpty {
            line.append(" (\(places.lowerBound + 1)-\(places.upperBound) of \(order.count))")
        }
        if !failing.isEmpty {
            line.append(": " + failing.prefix(50).map { rows[$0].history.target.label }.joined(separator: ", "))
        }
        return line
    }

    func finish() throws(ToolError) {
        guard isShown else { return }
        try suspend()
        for line in BoardSummary(of: rows.map(\.history)).lines(width: BoardDisplay.size.width) {
            try StandardOutput.writeLine(line)
        }
        try StandardOutput.writeLine("Watched for \(clockText(start.duration(to: .now))), until \(LocalTime.now.text)")
    }

    /// Only the rows on the screen are made: there may be thousands of others.
    private func table(_ places: Range<Int>, width: Int) -> [TerminalLine] {
        let shown = order[places].map { rows[$0] }
        let columns = [
            TableColumn("TARGET", shown.map(\.history.target.label), leastWidth: labelWidth),
            TableColumn("STATUS", shown.map { $0.history.state?.shortText ?? "" }),
            TableColumn("INTERFACE", shown.map { $0.history.state?.path.interface?.name.escaped ?? "-" }),
            TableColumn("SINCE", shown.map(\.since)),
            TableColumn("HISTORY", []),
        ]
        let widths = TableColumn.fit(columns, [.shortened, .kept, .droppable, .droppable, .droppable], width: width)
        return (0...shown.count).map { number in
            let row = number > 0 ? shown[number - 1] : nil
            var line = TableColumn.line(number, of: columns, widths) { column in
                column == 1 ? row?.mark?.colour : nil
            }
            if widths.last != 0, let row {
                for mark in row.marks.suffix(max(width - line.columns, 0)) { line.append(mark.rawValue, mark.colour) }
            }
            line.isMarked = number > 0 && view.selection == places.lowerBound + number - 1
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
