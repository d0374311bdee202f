// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import Synchronization
import TestSupport
import Testing

extension String {
    var withoutColours: String { replacing(/\u{1B}\[[0-9]*m/, with: "") }
}

/// A terminal. The test can read what a process writes to it, and press keys.
final class Terminal: Sendable {
    /// The standard output for a process.
    let screen: Int32
    /// The device, for a process that has the terminal as its own.
    let path: String
    private let outer: Int32
    private let chunks: AsyncStream<String>
    private let seen = Mutex("")

    init(columns: UInt16, rows: UInt16) throws {
        var (outer, inner) = (Int32(), Int32())
        var size: [UInt16] = [rows, columns, 0, 0]
        try #require(openpty(&outer, &inner, nil, nil, nil) == 0)
        for end in [outer, inner] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        try #require(ioctl(inner, UInt(TIOCSWINSZ), &size) == 0)
        screen = inner
        path = String(cString: ttyname(inner))
        self.outer = fcntl(outer, F_DUPFD_CLOEXEC, 0)
        let (chunks, chunk) = AsyncStream.makeStream(of: String.self)
        self.chunks = chunks
        try startThread { [outer] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while case let count = read(outer, &bytes, bytes.count), count > 0 {
                chunk.yield(String(decoding: bytes[..<count], as: UTF8.self))
            }
            chunk.finish()
            close(outer)
        }
    }

    deinit {
        // The reading thread ends when the last process has closed its side too.
        close(screen)
        close(outer)
    }

    func resize(columns: UInt16, rows: UInt16) throws {
        var size: [UInt16] = [rows, columns, 0, 0]
        try #require(ioctl(screen, UInt(TIOCSWINSZ), &size) == 0)
    }

    func press(_ key: String) throws {
        try #require(write(outer, key, key.utf8.count) == key.utf8.count)
    }

    /// Whether typed lines are edited and shown, as in a shell.
    var isRestored: Bool {
        var settings = termios()
        return tcgetattr(screen, &settings) == 0
            && settings.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
    }

    /// Does what a shell does when a process has stopped.
    func restore() throws {
        var settings = termios()
        try #require(tcgetattr(screen, &settings) == 0)
        settings.c_lflag |= tcflag_t(ICANON | ECHO)
        try #require(tcsetattr(screen, TCSANOW, &settings) == 0)
    }

    /// The next picture of the board. Its last words say how to leave.
    func picture(_ location: SourceLocation = #_sourceLocation) async throws -> String {
        try await until("Ctrl-C: leave", location)
    }

    /// The next picture that has a text.
    func picture(with text: String, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        while true {
            let picture = try await picture(location)
            if picture.contains(text) { return picture }
        }
    }

    /// The output since the last call, up to and with `text`.
    func until(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        func taken() -> String? {
            seen.withLock { seen in
                guard let range = seen.firstRange(of: text) else { return nil }
                defer { seen = String(seen[range.upperBound...]) }
                return String(seen[..<range.upperBound])
            }
        }
        var iterator = chunks.makeAsyncIterator()
        while true {
            if let taken = taken() { return taken }
            let chunk = try #require(await iterator.next(), "'\(text)' did not come", sourceLocation: location)
            seen.withLock { $0 += chunk }
        }
    }
}
#endif
