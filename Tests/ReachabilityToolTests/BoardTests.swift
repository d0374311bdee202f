// SPDX-License-Identifier: MIT

import Glibc
import TestSupport
import Testing

extension String {
    fileprivate var withoutSequences: String { replacing(/\u{1B}\[[?0-9;]*[a-zA-Z]/, with: "") }
}

@Suite("watch on a terminal", .tool, .namespace, .patient)
struct BoardTests {
    @Test("The board has a row for each target with its history, and the terminal is restored at the end")
    func rows() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", "192.0.2.1", "10.0.0.9", environment: ["TERM": "xterm"], output: terminal.screen)
        let first = try await terminal.picture().withoutColours
        #expect(first.hasPrefix("\u{1B}[?1049h\u{1B}[?25l"))
        #expect(first.contains("TARGET     STATUS     INTERFACE  SINCE     HISTORY"))
        #expect(first.contains(#/192\.0\.2\.1  no route   -          \d\d:\d\d:\d\d  -\r/#))
        #expect(first.contains(#/10\.0\.0\.9   reachable  e0         \d\d:\d\d:\d\d  \+\r/#))
        try await namespace.ip("route add default via 10.0.0.1")
        let second = try await terminal.picture().withoutColours
        #expect(second.contains(#/192\.0\.2\.1  reachable  e0         \d\d:\d\d:\d\d  -\+/#))
        #expect(second.contains("192.0.2.1  Reachable  dev e0  via 10.0.0.1"))
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
        #expect(try await terminal.until("\u{1B}[?1049l").hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test("After the end a summary remains")
    func summary() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", "192.0.2.1", "10.0.0.9", environment: ["TERM": "xterm"], output: terminal.screen)
        _ = try await terminal.picture()
        try await namespace.ip("route add default via 10.0.0.1")
        _ = try await terminal.picture()
        watching.send(SIGINT)
        #expect(try await watching.end().status == 0)
        _ = try await terminal.until("\u{1B}[?1049l")
        let lines = (try await terminal.until("Watched for ") + terminal.until("\r\n")).split(
            whereSeparator: \.isNewline)
        try #require(lines.count == 4)
        #expect(lines[0] == "TARGET     CHANGES  UNREACHABLE  LAST STATE")
        #expect(lines[1].wholeMatch(of: #/192\.0\.2\.1  1        \d+:\d\d:\d\d      reachable/#) != nil)
        #expect(lines[2] == "10.0.0.9   0        0:00:00      reachable")
        #expect(lines[3].contains(#/^Watched for 0:\d\d:\d\d, until \d{4}-\d\d-\d\dT/#))
    }

    @Test("On a narrow terminal the summary has three lines for each target")
    func narrowSummary() async throws {
        let terminal = try Terminal(columns: 40, rows: 2)
        let watching = try await Namespace(.subnet).start(
            "watch", "192.0.2.1,192.0.2.2", "10.0.0.9", environment: ["TERM": "xterm"], output: terminal.screen)
        #expect(try await terminal.picture().contains("(2 more:"))
        watching.send(SIGINT)
        #expect(try await watching.end().status == 0)
        _ = try await terminal.until("\u{1B}[?1049l")
        let lines = try await terminal.until("Watched for ").split(whereSeparator: \.isNewline)
        #expect(lines.prefix(2) == ["192.0.2.1,192.0.2.2", "  local address not assigned, 0 changes"])
        #expect(lines.contains("10.0.0.9") && lines.contains("  reachable, 0 changes"))
    }

    @Test("q and Ctrl-C leave, the screen says so, and the terminal is as before", arguments: ["q", "\u{3}"])
    func keys(key: String) async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        // A session of its own, so that the process gets the terminal, and Ctrl-C is a signal for it.
        let watching = try RunningProcess(
            ["setsid", "--wait", "sh", "-c", "exec \"$0\" watch 127.0.0.1 <\"$1\"", Tool.path, terminal.path],
            environment: ["TERM": "xterm"], output: terminal.screen)
        #expect(try await terminal.until("leave").hasSuffix("q or Ctrl-C: leave"))
        #expect(!terminal.isRestored)
        try terminal.press(key)
        #expect(try await watching.end().status == 0)
        #expect(terminal.isRestored)
    }

    @Test("A long name becomes shorter, and the status stays", arguments: [20, 40, 80, 120] as [UInt16])
    func longName(columns: UInt16) async throws {
        let name = "2001:0db8:85a3:08d3:1319:8a2e:0370:7348"  // the status of a host name may change meanwhile
        #expect(name.count == 39)
        let terminal = try Terminal(columns: columns, rows: 24)
        let watching = try await Namespace(.gateway).start(
            "watch", "--interface", "nosuch", name, environment: ["TERM": "xterm"], output: terminal.screen)
        let lines = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(lines.allSatisfy { $0.count <= Int(columns) })
        #expect(lines[0].contains("  STATUS"))
        #expect(lines[1].contains(#/^\S+  interface missing/#) && lines[1].contains(name) == (columns > 80))
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
    }

    @Test("East Asian names fill two columns for each character")
    func wideName() async throws {
        let terminal = try Terminal(columns: 40, rows: 24)
        let watching = try await Namespace(.gateway).start(
            "watch", "fe80::1%\u{4F8B}\u{3048}", environment: ["TERM": "xterm"], output: terminal.screen)
        let lines = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(lines[0].hasPrefix("TARGET        STATUS"))
        #expect(lines[1].hasPrefix("fe80::1%\u{4F8B}\u{3048}  interface missing"))
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
    }

    @Test("SIGQUIT and SIGHUP restore the terminal before they end the process", arguments: [SIGQUIT, SIGHUP])
    func deadlySignal(signal: Int32) async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let watching = try await Namespace(.gateway).start(
            ["sh", "-c", "ulimit -c 0; exec \"$0\" watch", Tool.path], environment: ["TERM": "xterm"],
            output: terminal.screen)
        _ = try await terminal.picture()
        watching.send(signal)
        #expect(try await watching.end().status == 128 + signal)
        _ = try await terminal.until("\u{1B}[?1049l")
    }

    @Test("Status and history are green if reachable, else red")
    func colours() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", "192.0.2.1", "10.0.0.9", environment: ["TERM": "xterm", "NO_COLOR": ""], output: terminal.screen)
        let first = try await terminal.picture()
        #expect(first.contains("\u{1B}[31mno route\u{1B}[39m") && first.contains("\u{1B}[31m-\u{1B}[39m"))
        #expect(first.contains("\u{1B}[32mreachable\u{1B}[39m") && first.contains("\u{1B}[32m+\u{1B}[39m"))
        try await namespace.ip("route add default via 10.0.0.1")
        let second = try await terminal.picture()
        #expect(second.contains("\u{1B}[31m-\u{1B}[39m\u{1B}[32m+\u{1B}[39m"))
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
    }

    @Test("There are no colours if NO_COLOR is set")
    func noColours() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", "192.0.2.1", environment: ["TERM": "xterm", "NO_COLOR": "1"], output: terminal.screen)
        let picture = try await terminal.picture()
        #expect(picture.contains("no route") && picture.withoutColours == picture)
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
    }

    @Test("The board escapes control characters of a name")
    func hostileName() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", hostileTarget, environment: ["TERM": "xterm"], output: terminal.screen)
        let picture = try await terminal.picture().withoutColours
        #expect(picture.contains("\(escapedTarget)  interface missing"))
        #expect(!picture.contains("\u{1B}[2J") && !picture.contains("\u{9B}"))
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
    }

    @Test("The board fits into a small terminal")
    func small() async throws {
        let terminal = try Terminal(columns: 20, rows: 4)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", environment: ["TERM": "xterm"],
            output: terminal.screen)
        let lines = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.count <= 20 })
        #expect(lines[2] == "(3 more: 3-)")
        #expect(lines.last == "Ctrl-C: leave")
        watching.send(SIGINT)
        #expect(try await watching.end().status == 0)
    }

    @Test("A line that is cut still shows the reason")
    func narrow() async throws {
        let terminal = try Terminal(columns: 46, rows: 24)
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start(
            "watch", "long.host.name.invalid", environment: ["TERM": "xterm"], output: terminal.screen)
        let picture = try await terminal.picture()
        #expect(picture.withoutSequences.contains(#/\d  long\.\S+alid  \(name [a-z ]+\)/#))
        watching.send(SIGTERM)
        #expect(try await watching.end().status == 0)
    }

    @Test("Ctrl-Z restores the terminal, and the board returns when the process continues")
    func stopped() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", environment: ["TERM": "xterm"], output: terminal.screen)
        _ = try await terminal.picture()
        watching.send(SIGTSTP)
        _ = try await terminal.until("\u{1B}[?1049l")
        // An earlier SIGCONT would be lost, and the process would stop after it.
        try await watching.untilStopped()
        watching.send(SIGCONT)
        #expect(try await terminal.picture().contains("\u{1B}[?1049h"))
    }

    @Test("A dumb terminal, --json, --debug and --exec print lines")
    func lines() async throws {
        for (arguments, kind) in [
            ([], "dumb"), (["--json"], "xterm"), (["--exec", "true"], "xterm"), (["--debug"], "xterm"),
        ] {
            let terminal = try Terminal(columns: 80, rows: 24)
            let watching = try RunningProcess(
                [Tool.path, "watch", "127.0.0.1"] + arguments, environment: ["TERM": kind], output: terminal.screen)
            #expect(try await !terminal.until("\r\n").contains("\u{1B}"))
            watching.send(SIGTERM)
            #expect(try await watching.end().status == 0)
        }
    }
}
