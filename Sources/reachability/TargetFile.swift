// SPDX-License-Identifier: MIT

import Glibc

/// A list of targets: a file, or standard input. One target a line. Blanks around it, blank lines, and comments that
/// begin with `#` are ignored.
///
/// A list without a target must never become the default path: the list may have been cut, or not written yet.
struct TargetFile {
    /// As a target or a path, this is standard input.
    static let standardInput = "-"

    private let path: String

    init(path: String) {
        self.path = path
    }

    private var isInput: Bool { path == TargetFile.standardInput }
    private var name: String { isInput ? "standard input" : path }

    func targets() throws(ToolError) -> [String] {
        let contents = try contents()
        // Some editors begin a file with this mark of UTF-8.
        let start = contents.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let texts = contents[start...].split(separator: UInt8(ascii: "\n")).compactMap(TargetFile.target(in:))
        if texts.isEmpty { throw ToolError("\(name): has no target") }
        return texts
    }

    /// A `#` within a word is a part of it.
    private static func target(in line: some Collection<UInt8>) -> String? {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
        var previous = UInt8(ascii: " ")
        let text = line.prefix { byte in
            defer { previous = byte }
            return byte != UInt8(ascii: "#") || !isBlank(previous)
        }.drop(while: isBlank)
        let word = text.prefix(text.reversed().drop(while: isBlank).count)
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }

    private func contents() throws(ToolError) -> [UInt8] {
        // Not open("/dev/stdin"): that fails where /proc is not mounted, and for sockets.
        let descriptor = isInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw ToolError(reading: name, error: errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += chunk[..<count]
            } else if errno == EAGAIN {
                // The terminal or pipe is shared with a program that made it non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                throw ToolError(reading: name, error: errno)
            }
        }
    }
}
