// SPDX-License-Identifier: MIT

/// A column of a table: its head, and a cell for each row.
struct TableColumn {
    /// What happens to a column if the terminal is narrow.
    enum Fit {
        /// It becomes narrower before any other column changes, down to `leastWidth`.
        case shortened
        case kept
        /// It disappears, the last such column first.
        case droppable
    }

    /// A shorter name says nothing.
    static let leastWidth = 12
    private static let gap = 2

    private let cells: [String]
    let width: Int

    /// `leastWidth`: that of cells which the table does not show now.
    init(_ head: String, _ cells: [String], leastWidth: Int = 0) {
        self.cells = [head] + cells
        width = self.cells.reduce(leastWidth) { max($0, $1.columns) }
    }

    /// The widths of columns that fit into a terminal. 0: the column has no place.
    static func fit(_ columns: [TableColumn], _ fits: [Fit], width: Int) -> [Int] {
        var widths = columns.map(\.width)
        func total() -> Int { widths.filter { $0 > 0 }.reduce(-gap) { $0 + $1 + gap } }
        for (index, fit) in fits.enumerated() where fit == .shortened {
            widths[index] = max(min(widths[index], leastWidth), widths[index] - max(total() - width, 0))
        }
        for (index, fit) in fits.enumerated().reversed() where fit == .droppable && total() > width {
            widths[index] = 0
        }
        // What the dropped columns leave belongs to the shortened one, which may also have to be narrower still.
        for (index, fit) in fits.enumerated() where fit == .shortened {
            widths[index] = min(columns[index].width, max(widths[index] + width - total(), 0))
        }
        return widths
    }

    /// A row; 0 is that of the heads.
    static func line(
        _ row: Int, of columns: [TableColumn], _ widths: [Int], colour: (Int) -> TerminalLine.Colour? = { _ in nil }
    ) -> TerminalLine {
        var line = TerminalLine()
        for (index, column) in columns.enumerated() where widths[index] > 0 {
            let end = line.columns + widths[index] + gap
            guard row < column.cells.count else { continue }
            line.append(column.cells[row].shortened(columns: widths[index]), row == 0 ? nil : colour(index))
            line.pad(to: end)
        }
        return line
    }
}
