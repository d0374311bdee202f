// SPDX-License-Identifier: MIT

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
