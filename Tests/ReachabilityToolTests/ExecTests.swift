// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

@Suite("watch --exec", .namespace, .limited)
struct ExecTests {
    /// The next line that the command prints. The tool's own lines begin with a time.
    private func nextRun(
        _ process: RunningProcess, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        while true {
            let line = try await process.nextLine(location)
            if line.hasPrefix("ran ") { return String(line.dropFirst(4)) }
        }
    }

    @Test("The command runs at changes only, with the new state in its environment")
    func environment() async throws {
        let namespace = try await Namespace(.gateway)
        let command = """
            echo "ran $REACHABILITY_TARGET|$REACHABILITY_FLAGS|$REACHABILITY_STATUS|$REACHABILITY_REASON|\
            $REACHABILITY_INTERFACE|$REACHABILITY_INTERFACE_TYPE|$KEPT"
            """
        let watching = try namespace.start(
            "watch", "192.0.2.1", "--exec", command,
            environment: ["KEPT": "kept", "REACHABILITY_INTERFACE": "old"])
        #expect(try await watching.nextLine().contains("192.0.2.1  Reachable"))
        try await namespace.ip("route delete default")
        #expect(try await nextRun(watching) == "192.0.2.1|Not Reachable|unreachable|noRoute|||kept")
        try await namespace.ip("route add 192.0.2.0/24 dev e0")
        #expect(
            try await nextRun(watching) == "192.0.2.1|Reachable,Directly Reachable Address|reachable||e0|virtual|kept")
        try await watching.stop()
    }

    @Test("The command gets the way, the time and the state before; with --exec-initial, also for the first states")
    func initial() async throws {
        let namespace = try await Namespace(.gateway)
        let command = """
            echo "ran $REACHABILITY_STATUS|$REACHABILITY_GATEWAY|$REACHABILITY_SOURCE|$REACHABILITY_PREVIOUS_STATUS|\
            $REACHABILITY_PREVIOUS_REASON|${REACHABILITY_TIME%T*}"
            """
        let watching = try namespace.start(
            "watch", "--count", "2", "--exec-initial", "--exec", command, "192.0.2.1",
            environment: ["REACHABILITY_PREVIOUS_STATUS": "old", "TZ": "UTC"])
        let first = try await nextRun(watching)
        #expect(first.contains(#/^reachable\|10\.0\.0\.1\|10\.0\.0\.2\|\|\|\d{4}-\d\d-\d\d$/#))
        try await namespace.ip("route delete default")
        #expect(try await nextRun(watching).hasPrefix("unreachable|||reachable||"))
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(try await nextRun(watching).hasPrefix("reachable|10.0.0.1|10.0.0.2|unreachable|noRoute|"))
        #expect(try await watching.end().status == 0)
    }

    @Test("Variables that are not UTF-8 reach the command as they are")
    func bytes() async throws {
        let command = #"echo "ran$(printf %s "$KEPT" | od -An -tx1)""#
        let script = #"KEPT=$(printf '\377='); export KEPT; exec "$0" watch 127.0.0.1 --exec-initial --exec "$1""#
        let watching = try RunningProcess(["sh", "-c", script, Tool.path, command])
        #expect(try await nextRun(watching) == "ff 3d")
        try await watching.stop()
    }

    @Test("One command runs at a time, and the next one has the latest state")
    func latestWins() async throws {
        var template = Array("/tmp/reachability-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        let fifo = folder + "/fifo"
        defer {
            unlink(fifo)
            rmdir(folder)
        }
        try #require(mkfifo(fifo, 0o600) == 0)
        // Open for both directions: open(2) then waits for nobody. Each line lets one command end.
        let gate = open(fifo, O_RDWR | O_CLOEXEC)
        try #require(gate >= 0)
        defer { close(gate) }

        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start(
            "watch", "192.0.2.1", "--exec", "echo \"ran $REACHABILITY_FLAGS\"; read -r line <\"$FIFO\"",
            environment: ["FIFO": fifo])
        _ = try await watching.nextLine()
        try await namespace.ip("route delete default")
        #expect(try await nextRun(watching) == "Not Reachable")
        for (change, line) in [
            ("add default via 10.0.0.1", "src 10.0.0.2"), ("delete default", "(no route)"),
            ("add 192.0.2.0/24 dev e0", "Reachable,Directly Reachable Address  dev e0  src 10.0.0.2"),
        ] {
            try await namespace.ip("route \(change)")
            // The tool's own line: a second command would have printed its line before.
            #expect(try await watching.nextLine().hasSuffix(line))
        }
        write(gate, "\n", 1)
        #expect(try await watching.nextLine() == "ran Reachable,Directly Reachable Address")
        try await namespace.ip("route delete 192.0.2.0/24")
        #expect(try await watching.nextLine().hasSuffix("(no route)"))
        write(gate, "\n", 1)
        #expect(try await watching.nextLine() == "ran Not Reachable")
        // The tool does not wait for a command that hangs. The pipe closes when both have ended.
        watching.send(SIGTERM)
        write(gate, "\n", 1)
        #expect(try await watching.end().status == 0)
    }

    @Test("watch continues after a command that fails or is not found")
    func failing() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start(
            "watch", "192.0.2.1", "--exec", "echo \"ran $REACHABILITY_STATUS\"; no-such-command")
        _ = try await watching.nextLine()
        try await namespace.ip("route delete default")
        #expect(try await nextRun(watching) == "unreachable")
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(try await nextRun(watching) == "reachable")
    }
}
#endif
