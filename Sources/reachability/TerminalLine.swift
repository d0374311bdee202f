// SPDX-License-Identifier: MIT

import Glibc

/// A line on a terminal: texts, with or without a colour.
struct TerminalLine {
    /// The numbers of ECMA-48.
    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33

        func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[39m" }
    }

    private var pieces: [(text: String, colour: Colour?)] = []
    private(set) var columns = 0
    /// Whether it is shown in reverse video.
    var isMarked = false

    init(_ text: String = "") {
        append(text)
    }

    mutating func append(_ text: String, _ colour: Colour? = nil) {
        pieces.append((text, colour))
        columns += text.columns
    }

    /// Adds blanks up to a column.
    mutating func pad(to column: Int) {
        append(String(repeating: " ", count: max(column - columns, 0)))
    }

    /// The text for the end of the terminal's history.
    var plain: String {
        let text = pieces.map(\.text).joined()
        return String(text.prefix(text.reversed().drop { $0 == " " }.count))
    }

    /// The text for the terminal, cut to its width.
    func text(width: Int, inColour: Bool) -> String {
        var room = width
        let line = pieces.map { text, colour in
            let text = text.prefix(columns: room)
            room -= text.columns
            guard inColour, let colour, !text.isEmpty else { return text }
            return colour.applied(to: text)
        }.joined()
        return isMarked ? "\u{1B}[7m\(line)\u{1B}[27m" : line
    }
}

extension String {
    /// The columns of a terminal that the text fills. East Asian characters fill two.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    func prefix(columns: Int) -> String {
        var room = columns
        return String(
            prefix {
                room -= $0.columns
                return room >= 0
            })
    }

    /// A text that is too long loses its middle: the ends of names and addresses distinguish them.
    func shortened(columns: Int) -> String {
        if self.columns <= columns { return self }
        guard columns > 1 else { return prefix(columns: columns) }
        let end = String(String(reversed()).prefix(columns: (columns - 1) / 2).reversed())
        return prefix(columns: columns - 1 - end.columns) + "…" + end
    }
}

extension Character {
    fileprivate var columns: Int {
        if isASCII { return 1 }
        return max(0, unicodeScalars.map { Int(wcwidth(wchar_t($0.value), in: Character.locale)) }.max() ?? 0)
    }

    /// The widths of characters are those of a locale.
    nonisolated(unsafe) private static let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
}

/// Declared here, because Glibc's header hides it from Swift.
@_silgen_name("wcwidth")
private func wcwidth(_ character: wchar_t) -> Int32

private func wcwidth(_ character: wchar_t, in locale: locale_t?) -> Int32 {
    guard let locale else { return 1 }
    let before = uselocale(locale)
    defer { uselocale(before) }
    return wcwidth(character)
}

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

extension Unicode.Scalar {
    /// Whether this character, which JSON allows unescaped, changes how a terminal shows the text around it.
    var isForTerminal: Bool {
        switch self {
        case "\u{7F}"..."\u{9F}": true
        // The marks, embeddings, overrides and isolates of right-to-left text, and the ends of lines and paragraphs.
        case "\u{61C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}": true
        default: false
        }
    }
}

extension String {
    /// The text for a terminal or a log. Control characters and backslashes are escaped, as in the library's
    /// descriptions: `\n`, `\r`, `\t`, `\\`, otherwise `\xNN` for each byte in UTF-8. So are those that order the text
    /// of a line: any user names a process, and so could change what root sees.
    var escaped: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": text += #"\n"#
            case "\r": text += #"\r"#
            case "\t": text += #"\t"#
            case "\\": text += #"\\"#
            case _ where scalar < " " || scalar.isForTerminal:
                for byte in String(scalar).utf8 { text += #"\x"# + padded(Int(byte), to: 2, radix: 16) }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
