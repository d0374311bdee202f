// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import TestSupport
import Testing

/// A line of a shell, and what it prints. Tests/command-lines explains the form.
private struct CommandLine {
    let line: String
    let output: String
    let errors: String
    let status: Int32

    init(_ block: Substring) throws {
        var lines = block.split(separator: "\n").map(String.init)
        line = lines.removeFirst()
        let last = try #require(lines.popLast()?.wholeMatch(of: /\[(\d+)\]/), "\(line): no status")
        status = try #require(Int32(last.1))
        errors = lines.filter { $0.hasPrefix("! ") }.map { $0.dropFirst(2) }.joined(separator: "\n")
        output = lines.filter { !$0.hasPrefix("! ") }.joined(separator: "\n")
    }

    func isMet(by ended: Ended) -> Bool {
        ended.status == status && CommandLine.matches(ended.output, output)
            && CommandLine.matches(ended.errors, errors)
    }

    /// Whether the text is the pattern, in which "..." stands for any characters.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        let pieces = pattern.split(separator: "...", omittingEmptySubsequences: false)
        var rest = text.hasSuffix("\n") ? text.dropLast() : text[...]
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else { return rest == pattern }
        guard rest.hasPrefix(first) else { return false }
        rest = rest.dropFirst(first.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}

@Suite("Command lines", .namespace, .limited)
struct CommandLineTests {
    private static let table =
        #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/command-lines"

    @Test("Every command line of the table prints what the table says")
    func table() async throws {
        let text = try String(contentsOfFile: Self.table, encoding: .utf8)
        let lines = try text.split(separator: "\n$ ").dropFirst().map(CommandLine.init)
        #expect(lines.count >= 60)
        let namespace = try await Namespace(.gateway + "\nroute add prohibit 198.51.100.0/24")
        let script = """
            folder=$(mktemp -d) || exit 99
            trap 'rm -rf "$folder"' EXIT
            cd "$folder" || exit 99
            reachability() { "$REACHABILITY" "$@"; }
            eval "$1"
            """
        for line in lines {
            let ended = try await namespace.start(
                ["bash", "-c", script, "bash", line.line], environment: ["REACHABILITY": Tool.path]
            ).end()
            #expect(line.isMet(by: ended), "\(line.line): [\(ended.status)] \(ended.output) \(ended.errors)")
        }
    }

    @Test("watch --count ends after that number of changes, and after the start of their commands")
    func count() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", "--count", "2", "192.0.2.1", "--exec", "echo ran")
        _ = try await watching.nextLine()
        try await namespace.ip("route delete default")
        #expect(try await [watching.nextLine(), watching.nextLine()].contains("ran"))
        try await namespace.ip("route add default via 10.0.0.1")
        let ended = try await watching.end()
        #expect(ended.status == 0)
        #expect(ended.output.contains("ran\n") && ended.output.contains("  Reachable  "))
    }
}
#endif
