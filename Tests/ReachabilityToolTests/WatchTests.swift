// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("watch", .namespace, .limited)
struct WatchTests {
    /// The next line, without its time. Fails if the time has another form.
    private func nextState(
        _ process: RunningProcess, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let line = try await process.nextLine(location)
        let match = try #require(
            line.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d  (.*)/), sourceLocation: location)
        return String(match.1)
    }

    @Test("watch prints the current state, and then a line for each change with the way and the reason")
    func changes() async throws {
        let namespace = try await Namespace(.subnet)
        let watching = try namespace.start("watch", "192.0.2.1")
        #expect(try await nextState(watching) == "192.0.2.1  Not Reachable  (no route)")
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(try await nextState(watching) == "192.0.2.1  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2")
        try await namespace.ip("route replace default via 10.0.0.3")
        #expect(try await nextState(watching) == "192.0.2.1  Reachable  dev e0  via 10.0.0.3  src 10.0.0.2")
        try await namespace.ip("link set e1 down")
        let lost = try await nextState(watching)
        #expect(lost.hasPrefix("192.0.2.1  Not Reachable  dev e0  via 10.0.0.3"))
        #expect(lost.hasSuffix("(no carrier)"))
        try await namespace.ip("link set e1 up")
        #expect(try await nextState(watching) == "192.0.2.1  Reachable  dev e0  via 10.0.0.3  src 10.0.0.2")
        try await namespace.ip("route delete default")
        #expect(try await nextState(watching) == "192.0.2.1  Not Reachable  (no route)")
        try await namespace.ip("route add prohibit 192.0.2.0/24")
        #expect(try await nextState(watching) == "192.0.2.1  Not Reachable  (route prohibited)")
        watching.send(SIGTERM)
        let ended = try await watching.end()
        #expect(ended.status == 0)
        #expect(ended.output == "")
        #expect(ended.errors == "")
    }

    @Test("A link that goes down takes the default path with it, though the kernel does not report its routes")
    func linkDown() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch")
        #expect(try await nextState(watching) == "default  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2")
        try await namespace.ip("link set e0 down")
        #expect(try await nextState(watching).hasPrefix("default  Not Reachable"))
    }

    @Test("Only a target whose path changes has a line")
    func several() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", "192.0.2.1", "10.0.0.9")
        #expect(try await nextState(watching).hasPrefix("192.0.2.1  Reachable"))
        #expect(try await nextState(watching).hasPrefix("10.0.0.9  Reachable"))
        try await namespace.ip("link set e0 mtu 1400\nroute add 198.51.100.0/24 via 10.0.0.1")
        try await namespace.ip("route delete default")
        #expect(try await nextState(watching).hasPrefix("192.0.2.1  Not Reachable"))
        try await namespace.ip("address delete 10.0.0.2/24 dev e0")
        #expect(try await nextState(watching) == "10.0.0.9  Not Reachable  (no route)")
    }

    @Test("watch follows an interface that does not exist yet")
    func missingInterface() async throws {
        let namespace = try await Namespace("link set lo up")
        let watching = try namespace.start("watch", "--interface", "e0", "10.0.0.9")
        #expect(try await nextState(watching) == "10.0.0.9  Not Reachable  (interface missing)")
        try await namespace.ip(.subnet)
        while try await !nextState(watching).hasPrefix("10.0.0.9  Reachable,Directly Reachable Address  dev e0") {}
    }

    @Test("--json prints an object for each change")
    func json() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", "--json")
        let before = try JSONLine(try await watching.nextLine())
        #expect(before.target == "default" && before.reachable && before.destination == nil)
        try await namespace.ip("route delete default")
        let after = try JSONLine(try await watching.nextLine())
        #expect(after.target == "default" && !after.reachable && after.reason == "noRoute")
        #expect(after.time >= before.time)
    }

    @Test(
        "A line has the date, and the time with its zone", arguments: [("UTC-5:45", "+05:45"), ("UTC3:30", "-03:30")])
    func zone(zone: String, text: String) async throws {
        let process = try RunningProcess(
            [Tool.path, "watch", "--timeout", "0", "127.0.0.1"], environment: ["TZ": zone])
        let line = try await process.nextLine()
        let time = try #require(line.split(separator: " ").first)
        #expect(time.hasSuffix(text))
        let date = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(String(time))
        #expect(abs(date.timeIntervalSinceNow) < Double(TimeLimit.seconds))
    }

    @Test("Bad targets are all reported, and nothing is watched")
    func badTargets() async throws {
        let ended = try await Tool.run("watch", "a b", "127.0.0.1", "300.1.2.3")
        #expect(ended.status == 64 && ended.output == "")
        #expect(ended.errors.split(separator: "\n").count == 2)
    }

    @Test("watch exits with 0 on SIGINT and SIGTERM", arguments: [SIGINT, SIGTERM])
    func signals(signal: Int32) async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch")
        _ = try await watching.nextLine()
        watching.send(signal)
        #expect(try await watching.end().status == 0)
    }

    @Test("A signal that was ignored at the start stays ignored")
    func ignoredSignal() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start(["sh", "-c", "trap '' INT; exec \"$0\" watch", Tool.path])
        #expect(try await nextState(watching).hasPrefix("default  Reachable"))
        watching.send(SIGINT)
        try await namespace.ip("route delete default")
        #expect(try await nextState(watching).hasPrefix("default  Not Reachable"))
    }

    @Test("watch exits with 0 as soon as its reader is gone")
    func readerGone() async throws {
        let namespace = try await Namespace(.gateway)
        let script = "\"$0\" watch | head -n 1; echo \"${PIPESTATUS[0]}\""
        let ended = try await namespace.start(["bash", "-c", script, Tool.path]).end()
        #expect(ended.output.hasSuffix("src 10.0.0.2\n0\n"))
        #expect(ended.errors == "")
    }

    @Test("watch exits with 0 if its reader is gone before the first line")
    func readerGoneBefore() async throws {
        let namespace = try await Namespace(.gateway)
        let script = "exec 3> >(:); wait $!; \"$0\" watch >&3; echo $?"
        let ended = try await namespace.start(["bash", "-c", script, Tool.path]).end()
        #expect(ended.output == "0\n")
        #expect(ended.errors == "")
    }

    @Test("A state that ends while nobody reads the output does not stay the last one")
    func slowReader() async throws {
        let namespace = try await Namespace(.gateway)
        let output = try SmallPipe()
        let targets = (1...200).map { "192.0.2.\($0)" }
        let watching = try namespace.start([Tool.path, "watch"] + targets, output: output.writer)
        try await waitUntil { output.isFull }
        try await namespace.ip("route delete default")
        output.read()
        // The tool reads more states now.
        try await waitUntil { output.isFull }
        try await namespace.ip("route add default via 10.0.0.1")
        try await waitUntil {
            output.read()
            return output.lines.count >= targets.count
        }
        try await watching.stop()
        output.read()
        var states: [Substring: Substring] = [:]
        for line in output.lines {
            let parts = line.split(separator: "  ")
            states[parts[1]] = parts[2]
        }
        #expect(states.count == targets.count)
        #expect(states.values.allSatisfy { $0 == "Reachable" })
    }

    @Test("watch exits with 0 at --timeout")
    func timeout() async throws {
        let ended = try await Namespace(.gateway).run("watch", "--timeout", "0.1")
        #expect(ended.status == 0)
        #expect(ended.output.hasSuffix("default  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n"))
    }

    @Test("--settle delays a change")
    func settle() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", "--settle", "50ms", "192.0.2.1")
        #expect(try await nextState(watching).hasPrefix("192.0.2.1  Reachable"))
        let start = ContinuousClock.now
        try await namespace.ip("route delete default")
        #expect(try await nextState(watching) == "192.0.2.1  Not Reachable  (no route)")
        #expect(start.duration(to: .now) >= .milliseconds(50))
    }

    @Test("--settle drops a change that is undone, as a DHCP client makes it at each renewal")
    func renewals() async throws {
        let namespace = try await Namespace(.gateway)
        let settled = try namespace.start("watch", "--settle", "1d", "192.0.2.1")
        let each = try namespace.start("watch", "192.0.2.1")
        for watching in [settled, each] { #expect(try await nextState(watching).hasPrefix("192.0.2.1  Reachable")) }
        for _ in 0..<10 {
            try await namespace.ip("address delete 10.0.0.2/24 dev e0")
            while try await nextState(each) != "192.0.2.1  Not Reachable  (no route)" {}
            try await namespace.ip("address add 10.0.0.2/24 dev e0\nroute add default via 10.0.0.1")
            while try await !nextState(each).hasPrefix("192.0.2.1  Reachable") {}
        }
        settled.send(SIGTERM)
        let ended = try await settled.end()
        #expect(ended.status == 0 && ended.output == "")
    }

    @Test("watch uses one thread")
    func threads() async throws {
        let watching = try await Namespace(.gateway).start("watch", "--json", "192.0.2.1", "10.0.0.9")
        _ = try await watching.nextLine()
        _ = try await watching.nextLine()
        let tasks = try await RunningProcess(["ls", "/proc/\(watching.identifier)/task"]).end()
        #expect(tasks.output == "\(watching.identifier)\n")
    }
}

/// A pipe of one page.
private final class SmallPipe {
    let writer: Int32
    private let reader: Int32
    private var text = ""

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let setSize: Int32 = 1031  // F_SETPIPE_SZ, which Glibc's module does not have
        try #require(fcntl(writer, setSize, Int32(4096)) == 4096)
        try #require(fcntl(reader, F_SETFL, O_NONBLOCK) == 0)
    }

    deinit {
        for end in [reader, writer] { close(end) }
    }

    /// Whether a line of 90 bytes does not fit. It is the longest that the tool writes here.
    var isFull: Bool {
        var count: Int32 = 0
        return ioctl(reader, UInt(FIONREAD), &count) == 0 && count > 4096 - 90
    }

    /// Without the one that is not complete.
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }

    /// Reads what is there. Does not wait.
    func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(reader, &bytes, bytes.count)
        if count > 0 { text += String(decoding: bytes[..<count], as: UTF8.self) }
    }
}
#endif
