// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

extension String {
    fileprivate var withoutSequences: String { replacing(/\u{1B}\[[?0-9;]*[a-zA-Z]/, with: "") }
}

@Suite("watch on a terminal", .namespace, .limited)
struct BoardTests {
    @Test("The board has a row for each target with its history, and the terminal is restored at the end")
    func rows() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.startBoard("192.0.2.1", "10.0.0.9", on: terminal)
        let first = try await terminal.picture().withoutColours
        #expect(first.hasPrefix("\u{1B}[?1049h\u{1B}[?25l"))
        #expect(first.contains("TARGET     STATUS     INTERFACE  SINCE     HISTORY"))
        #expect(first.contains(#/192\.0\.2\.1  no route   -          \d\d:\d\d:\d\d  -\r/#))
        #expect(first.contains(#/10\.0\.0\.9   reachable  e0         \d\d:\d\d:\d\d  \+\r/#))
        try await namespace.ip("route add default via 10.0.0.1")
        let second = try await terminal.picture().withoutColours
        #expect(second.contains(#/192\.0\.2\.1  reachable  e0         \d\d:\d\d:\d\d  -\+/#))
        #expect(second.contains("192.0.2.1  Reachable  dev e0  via 10.0.0.1"))
        try await watching.stop()
        #expect(try await terminal.until("\u{1B}[?1049l").hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    @Test("After the end a summary remains")
    func summary() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.startBoard("192.0.2.1", "10.0.0.9", on: terminal)
        _ = try await terminal.picture()
        try await namespace.ip("route add default via 10.0.0.1")
        _ = try await terminal.picture()
        try await watching.stop(SIGINT)
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
        let watching = try await Namespace(.subnet).startBoard("192.0.2.1,192.0.2.2", "10.0.0.9", on: terminal)
        #expect(try await terminal.picture().withoutSequences.contains("1 of 2 fails: 192.0.2.1,192.0.2.2"))
        try await watching.stop(SIGINT)
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
        let watching = try await Namespace(.gateway).startBoard("--interface", "nosuch", name, on: terminal)
        let lines = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(lines.allSatisfy { $0.count <= Int(columns) })
        #expect(lines[0].contains("  STATUS"))
        #expect(lines[1].contains(#/^\S+  interface missing/#) && lines[1].contains(name) == (columns > 80))
        try await watching.stop()
    }

    @Test("East Asian names fill two columns for each character")
    func wideName() async throws {
        let terminal = try Terminal(columns: 40, rows: 24)
        let watching = try await Namespace(.gateway).startBoard("fe80::1%\u{4F8B}\u{3048}", on: terminal)
        let lines = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(lines[0].hasPrefix("TARGET        STATUS"))
        #expect(lines[1].hasPrefix("fe80::1%\u{4F8B}\u{3048}  interface missing"))
        try await watching.stop()
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
        try await watching.stop()
    }

    @Test("There are no colours if NO_COLOR is set")
    func noColours() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start(
            "watch", "192.0.2.1", environment: ["TERM": "xterm", "NO_COLOR": "1"], output: terminal.screen)
        let picture = try await terminal.picture()
        #expect(picture.contains("no route") && picture.withoutColours == picture)
        try await watching.stop()
    }

    @Test("The board escapes control characters of a name")
    func hostileName() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.startBoard(hostileTarget, on: terminal)
        let picture = try await terminal.picture().withoutColours
        #expect(picture.contains("\(escapedTarget)  interface missing"))
        #expect(!picture.contains("\u{1B}[2J") && !picture.contains("\u{9B}"))
        try await watching.stop()
    }

    @Test("The board fits into a small terminal")
    func small() async throws {
        let terminal = try Terminal(columns: 20, rows: 4)
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.startBoard("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", on: terminal)
        let lines = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.count <= 20 })
        #expect(lines[2] == "4 of 4 fail: 192.0.2")
        #expect(lines.last == "Ctrl-C: leave")
        try await watching.stop(SIGINT)
    }

    /// Starts `watch` for many targets, with the terminal as its own.
    private func start(_ targets: [String], in namespace: Namespace, on terminal: Terminal) throws -> RunningProcess {
        let script = #"exec 3<"$1"; printf '%s\n' $2 | "$0" watch -"#
        return try namespace.start(
            ["setsid", "--wait", "sh", "-c", script, Tool.path, terminal.path, targets.joined(separator: " ")],
            environment: ["TERM": "xterm"], output: terminal.screen)
    }

    @Test("Of forty targets, the one that fails is the first row, and a line names it")
    func failingFirst() async throws {
        let terminal = try Terminal(columns: 80, rows: 12)
        let namespace = try await Namespace(.subnet)
        let targets = (1...39).map { "10.0.0.\($0)" } + ["192.0.2.1"]
        let watching = try namespace.start(
            [Tool.path, "watch"] + targets, environment: ["TERM": "xterm"], output: terminal.screen)
        let first = try await terminal.picture().withoutSequences.split(whereSeparator: \.isNewline)
        #expect(first.count == 12 && first[1].hasPrefix("192.0.2.1  no route") && first[2].hasPrefix("10.0.0.1 "))
        #expect(first[10].hasPrefix("1 of 40 fails: 192.0.2.1"))
        try await namespace.ip("route add default via 10.0.0.1")
        // What changed last comes next.
        let second = try await terminal.picture(with: "none of 40 fails").withoutSequences
        #expect(second.split(whereSeparator: \.isNewline)[1].hasPrefix("192.0.2.1  reachable"))
        try await watching.stop()
    }

    @Test("Keys scroll, filter and show the details of a target, also if the targets come from standard input")
    func navigation() async throws {
        let terminal = try Terminal(columns: 80, rows: 16)
        let namespace = try await Namespace(.gateway)
        let watching = try start((1...40).map { "192.0.2.\($0)" }, in: namespace, on: terminal)
        #expect(try await terminal.picture().contains("/: filter, Enter: details, q or Ctrl-C: leave"))
        try terminal.press("\u{1B}[B")
        let selected = try await terminal.picture(with: "\u{1B}[7m")
        #expect(selected.contains("\u{1B}[7m192.0.2.1 ") && selected.contains("(1-13 of 40)"))
        try terminal.press("\u{1B}[6~")
        #expect(try await terminal.picture(with: "(2-14 of 40)").contains("\u{1B}[7m192.0.2.14 "))
        try terminal.press("\u{1B}[F")
        #expect(try await terminal.picture(with: "(28-40 of 40)").contains("\u{1B}[7m192.0.2.40 "))
        try terminal.press("/.27\r")
        let filtered = try await terminal.picture(with: "(1-1 of 1)").withoutSequences
        #expect(filtered.contains("192.0.2.27  reachable"))
        try terminal.press("\r")
        let details = try await terminal.picture(with: "Esc: back").withoutSequences
        #expect(details.contains("192.0.2.27\r") && details.contains("gateway      10.0.0.1"))
        try await namespace.ip("route delete default")
        let after = try await terminal.picture(with: "40 of 40 fail").withoutSequences
        #expect(after.contains("status       no route") && after.contains(#/\d  \(no route\)  Not Reachable/#))
        try terminal.press("\u{1B}")
        #expect(try await terminal.picture(with: "(1-1 of 1)").withoutSequences.contains("TARGET"))
        try terminal.press("\u{1B}")
        #expect(try await terminal.picture(with: "192.0.2.1 ").contains("192.0.2.13 "))
        try terminal.resize(columns: 30, rows: 6)
        let small = try await terminal.picture(with: "q or Ctrl-C: leave").withoutSequences
        let lines = small.split(whereSeparator: \.isNewline)
        #expect(lines.count <= 6 && lines.allSatisfy { $0.count <= 2 * 30 })
        try terminal.press("q")
        #expect(try await watching.end().status == 0)
    }

    @Test("A filter that arrives together with its end leaves all rows", arguments: ["/.7\u{1B}", "/.7\u{7F}\u{7F}\r"])
    func filterTypedAtOnce(keys: String) async throws {
        let terminal = try Terminal(columns: 80, rows: 16)
        let namespace = try await Namespace(.gateway)
        let watching = try start((1...9).map { "192.0.2.\($0)" }, in: namespace, on: terminal)
        _ = try await terminal.picture()
        try terminal.press(keys)
        let picture = try await terminal.picture(with: "/: filter").withoutSequences
        #expect(picture.split(whereSeparator: \.isNewline).count { $0.contains("  reachable  e0 ") } == 9)
        try terminal.press("q")
        #expect(try await watching.end().status == 0)
    }

    @Test("A key draws only the rows on the screen, of ten thousand targets, too")
    func manyTargets() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace("link set lo up")
        let script =
            #"seq -f 127.0.%g.1 0 255 >"$2"; for i in $(seq 40); do cat "$2"; done >"$2.all"; exec "$0" watch --file "$2.all" <"$1""#
        var template = Array("/tmp/reachability-XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer {
            for name in ["/hosts", "/hosts.all", ""] { remove(folder + name) }
        }
        let watching = try namespace.start(
            ["setsid", "--wait", "sh", "-c", script, Tool.path, terminal.path, folder + "/hosts"],
            environment: ["TERM": "xterm"], output: terminal.screen)
        #expect(try await terminal.picture().utf8.count < 10_000)
        try terminal.press("\u{1B}[F")
        let last = try await terminal.picture(with: "(10220-10240 of 10240)")
        #expect(last.utf8.count < 10_000)
        try terminal.press("\u{1B}[5~")
        #expect(try await terminal.picture(with: "(10219-10239 of 10240)").utf8.count < 10_000)
        watching.send(SIGTERM)
        _ = try await watching.end()
    }

    @Test("A line that is cut still shows the reason")
    func narrow() async throws {
        let terminal = try Terminal(columns: 46, rows: 24)
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.startBoard("long.host.name.invalid", on: terminal)
        let picture = try await terminal.picture()
        #expect(picture.withoutSequences.contains(#/\d  long\.\S+alid  \(name [a-z ]+\)/#))
        try await watching.stop()
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

    @Test("After SIGSTOP, of which the board hears nothing, keys arrive at once again")
    func stoppedWithoutWarning() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let watching = try RunningProcess(
            ["setsid", "--wait", "sh", "-c", "echo $$; exec \"$0\" watch 127.0.0.1 <\"$1\"", Tool.path, terminal.path],
            environment: ["TERM": "xterm"], output: terminal.screen)
        let process = try #require(pid_t(try await terminal.until("\r\n").dropLast()))
        _ = try await terminal.picture()
        kill(process, SIGSTOP)
        try terminal.restore()
        kill(process, SIGCONT)
        _ = try await terminal.picture()
        #expect(!terminal.isRestored)
        try terminal.press("q")
        #expect(try await watching.end().status == 0)
        #expect(terminal.isRestored)
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
            try await watching.stop()
        }
    }
}
#endif
