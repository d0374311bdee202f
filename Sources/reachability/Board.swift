// SPDX-License-Identifier: MIT

import NetworkReachability

/// A status in the history of the board.
enum BoardMark: String, CaseIterable {
    case reachable = "+"
    case unreachable = "-"
    case pending = "?"

    init(_ status: TargetState.Status) {
        switch status {
        case .reachable: self = .reachable
        case .unreachable: self = .unreachable
        case .pending: self = .pending
        }
    }

    var colour: TerminalLine.Colour {
        switch self {
        case .reachable: .green
        case .unreachable: .red
        case .pending: .yellow
        }
    }
}

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

/// A target on the board.
struct BoardRow {
    let history: TargetHistory
    private(set) var since = ""
    /// The latest marks, oldest first.
    private(set) var marks: [BoardMark] = []
    /// The latest changes, oldest first; the first state is among them.
    private(set) var changes: [BoardChange] = []
    /// Greater for a later change. 0: the first state is also the last.
    private(set) var lastChange = 0

    init(_ history: TargetHistory) {
        self.history = history
    }

    /// `number`: that of the change, the same for those that come together.
    mutating func record(_ state: TargetState, at now: LocalTime, number: Int) -> BoardChange {
        let mark = BoardMark(state.status)
        if marks.last != mark { since = now.seconds }
        if !marks.isEmpty { lastChange = number }
        marks = (marks + [mark]).suffix(20)
        let change = BoardChange(time: now, label: history.target.label, state: state)
        changes = (changes + [change]).suffix(20)
        return change
    }

    var mark: BoardMark? { marks.last }

    /// Whether the row comes before another one: what fails first, then what is pending, then what changed last.
    static func comesBefore(_ one: BoardRow, _ other: BoardRow) -> Bool {
        func rank(_ row: BoardRow) -> Int {
            switch row.mark {
            case .unreachable: 0
            case .pending: 1
            case .reachable, nil: 2
            }
        }
        let ranks = (rank(one), rank(other))
        return ranks.0 == ranks.1 ? one.lastChange > other.lastChange : ranks.0 < ranks.1
    }

    /// All that is known of the target.
    func details(width: Int, height: Int) -> [TerminalLine] {
        guard let state = history.state else { return [] }
        let path = state.path
        let values: [(String, String?)] = [
            ("status", state.shortText), ("since", since), ("flags", state.status == .pending ? nil : "\(path.flags)"),
            ("interface", path.interface.map { "\($0.name.escaped) (\($0.type))" }),
            ("gateway", path.gateway.map { "\($0)".escaped }), ("source", path.source.map { "\($0)".escaped }),
            ("address", path.destination.map { "\($0)".escaped }), ("MTU", path.mtu.map { "\($0)" }),
            ("table", path.table.map { "\($0)" }), ("changes", "\(history.changes)"),
            ("unreachable", clockText(history.unreachable)),
        ]
        var lines = [TerminalLine(history.target.label), TerminalLine()]
        for (name, value) in values {
            guard let value else { continue }
            var line = TerminalLine(name)
            line.pad(to: 13)
            line.append(value, name == "status" ? mark?.colour : nil)
            lines.append(line)
        }
        let room = max(height - lines.count - 1, 0)
        return lines + (room > 0 ? [TerminalLine()] : [])
            + changes.suffix(room).map { $0.line(width: width, hasName: false) }
    }
}

/// Which part of the board is shown: the first row, the selected one, the filter, or the details of one target.
struct BoardView {
    /// The number of the target whose details are shown.
    private(set) var detail: Int?
    private(set) var filter = ""
    private(set) var isTyping = false
    /// The place in the order of the rows; nil before the first key.
    private(set) var selection: Int?
    private(set) var first = 0

    /// Obeys a key. `order`: the rows that pass the filter; `room`: how many of them the screen shows. Returns false if the
    /// user wants to leave.
    mutating func obey(_ key: BoardKey, order: [Int], room: Int) -> Bool {
        if isTyping {
            type(key)
            return true
        }
        switch key {
        case .character("q"), .character("Q"): return false
        case .escape where detail != nil, .enter where detail != nil: detail = nil
        case .escape: (filter, selection, first) = ("", nil, 0)
        case .enter: detail = order.isEmpty ? nil : order[min(selection ?? 0, order.count - 1)]
        case .character("/"): (detail, isTyping, filter) = (nil, true, "")
        case .up: move(by: -1, order.count, room)
        case .down: move(by: selection == nil ? 0 : 1, order.count, room)
        case .pageUp: move(by: -max(room, 1), order.count, room)
        case .pageDown: move(by: max(room, 1), order.count, room)
        case .home: move(by: -order.count, order.count, room)
        case .end: move(by: order.count, order.count, room)
        case .backspace, .character: break
        }
        return true
    }

    private mutating func type(_ key: BoardKey) {
        switch key {
        case .character(let character): filter.append(character)
        case .backspace: filter = String(filter.dropLast())
        case .enter: isTyping = false
        case .escape: (filter, isTyping) = ("", false)
        case .up, .down, .pageUp, .pageDown, .home, .end: break
        }
        (selection, first) = (nil, 0)
    }

    private mutating func move(by distance: Int, _ count: Int, _ room: Int) {
        guard detail == nil, count > 0 else { return }
        let place = min(max((selection ?? 0) + distance, 0), count - 1)
        selection = place
        first = min(first, place)
        if place >= first + room { first = place - room + 1 }
    }

    /// The places that the screen shows.
    func places(of count: Int, room: Int) -> Range<Int> {
        let first = min(first, max(count - room, 0))
        return first..<min(first + max(room, 0), count)
    }
}

/// What remains of a board: for each target the changes, the time that it was unreachable, and its last state.
struct BoardSummary {
    private let cells: [[String]]

    init(of histories: [TargetHistory]) {
        cells = histories.map { history in
            [
                history.target.label, "\(history.changes)", clockText(history.unreachable),
                history.state?.shortText ?? "",
            ]
        }
    }

    /// A table; three lines for each target if the terminal is too narrow for that.
    func lines(width: Int) -> [String] {
        let heads = ["TARGET", "CHANGES", "UNREACHABLE", "LAST STATE"]
        let columns = heads.enumerated().map { index, head in TableColumn(head, cells.map { $0[index] }) }
        let widths = TableColumn.fit(columns, [.shortened, .kept, .kept, .kept], width: width)
        if widths[0] >= TableColumn.leastWidth || widths[0] == columns[0].width {
            return (0...cells.count).map { TableColumn.line($0, of: columns, widths).plain }
        }
        return cells.flatMap { cells in
            let changes = cells[1] == "1" ? "1 change" : "\(cells[1]) changes"
            return [cells[0], "  \(cells[3]), \(changes)", "  unreachable for \(cells[2])"]
        }
    }
}
