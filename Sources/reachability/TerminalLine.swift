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
