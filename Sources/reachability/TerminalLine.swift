// SPDX-License-Identifier: MIT

/// A line of a terminal, of texts that have a colour or have not.
struct TerminalLine {
    /// What ECMA-48 numbers the colours.
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

    /// Blanks up to a column.
    mutating func pad(to column: Int) {
        append(String(repeating: " ", count: max(column - count, 0)))
    }

    /// What is written to the terminal: no more than fits, and the colours only if they are wanted.
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
