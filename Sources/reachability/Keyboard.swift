// SPDX-License-Identifier: MIT

import Glibc

/// A key that the board obeys.
enum BoardKey: Equatable {
    case up, down, pageUp, pageDown, home, end, enter, escape, backspace
    case character(Character)

    /// What terminals send for the keys that are no characters.
    private static let sequences: [(text: String, key: BoardKey)] = [
        ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
        ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}OH", .home), ("\u{1B}[1~", .home),
        ("\u{1B}[F", .end), ("\u{1B}OF", .end), ("\u{1B}[4~", .end),
    ]

    /// The keys in what was read. Unknown sequences and control characters are ignored.
    static func keys(in text: String) -> [BoardKey] {
        var keys: [BoardKey] = []
        var rest = text[...]
        while let first = rest.first {
            if let (sequence, key) = sequences.first(where: { rest.hasPrefix($0.text) }) {
                keys.append(key)
                rest = rest.dropFirst(sequence.count)
            } else if rest.hasPrefix("\u{1B}[") || rest.hasPrefix("\u{1B}O") {
                rest = rest.dropFirst(2).drop { $0.isNumber || $0 == ";" }.dropFirst()
            } else {
                rest = rest.dropFirst()
                switch first {
                case "\u{1B}": keys.append(.escape)
                case "\r", "\n", "\r\n": keys.append(.enter)
                case "\u{7F}", "\u{8}": keys.append(.backspace)
                case " "...: keys.append(.character(first))
                default: break
                }
            }
        }
        return keys
    }
}

/// The terminal that is standard input, or that of the process if standard input is a list of targets. While it is open, keys arrive at once and are not shown.
///
/// It must never change the terminal from the background: the kernel would stop the process.
final class Keyboard {
    /// Of the terminal.
    let descriptor: Int32
    private var original: termios?

    var isOpen: Bool { original != nil }

    init(inputIsList: Bool = false) {
        descriptor = inputIsList ? Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC) : STDIN_FILENO
    }

    private var isInForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    func open() {
        var settings = termios()
        guard !isOpen, isInForeground, tcgetattr(descriptor, &settings) == 0, sendKeysAtOnce(settings) else { return }
        original = settings
    }

    /// Call this when the process continues after a stop: the shell has given the terminal its own settings.
    func reopen() {
        guard let original else { return }
        if !isInForeground || !sendKeysAtOnce(original) { self.original = nil }
    }

    private func sendKeysAtOnce(_ settings: termios) -> Bool {
        var settings = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        return tcsetattr(descriptor, TCSADRAIN, &settings) == 0
    }

    func close() {
        guard var original else { return }
        self.original = nil
        tcsetattr(descriptor, TCSADRAIN, &original)
    }

    /// Call this when there is input. nil: the terminal is gone.
    func keys() -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EINTR { return "" }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
