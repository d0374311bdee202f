// SPDX-License-Identifier: MIT

import NetworkReachability

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
            ("address", path.destination.map { "\($0)".escaped }), ("MTU", state.mtu.map { "\($0)" }),
            ("table", state.table.map { "\($0)" }), ("changes", "\(history.changes)"),
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
