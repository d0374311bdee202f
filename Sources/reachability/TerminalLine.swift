// SPDX-License-Identifier: MIT

/// A line on a terminal: texts, with or without a colour.
struct TerminalLine {
    /// The numbers of ECMA-48.
    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
    }

    private var pieces: [(text: String, colour: Colour?)] = []
    private(set) var count = 0

    init(_ text: String = "") {
        append(text)
    }

    mutating func append(_ text: String, _ colour: Colour? = nil) {
        pieces.append((text, colour))
        count += text.count
    }

    /// Adds blanks up to a column.
    mutating func pad(to column: Int) {
        append(String(repeating: " ", count: max(column - count, 0)))
    }

    /// The text for the terminal, cut to its width.
    func text(width: Int, inColour: Bool) -> String {
        var room = width
        return pieces.map { text, colour in
            let text = text.prefix(room)
            room -= text.count
            guard inColour, let colour, !text.isEmpty else { return String(text) }
            return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[39m"
        }.joined()
    }
}
