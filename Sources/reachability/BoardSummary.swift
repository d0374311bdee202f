// SPDX-License-Identifier: MIT

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
