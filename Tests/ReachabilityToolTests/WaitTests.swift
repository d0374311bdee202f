// SPDX-License-Identifier: MIT

#if Tool
import TestSupport
import Testing

@Suite("wait", .namespace, .limited)
struct WaitTests {
    @Test("wait exits with 0 and no output as soon as the target is reachable")
    func reachable() async throws {
        let namespace = try await Namespace(.subnet)
        let waiting = try namespace.start("wait", "192.0.2.1")
        try await namespace.until(isWatched: true)
        try await namespace.ip("route add default via 10.0.0.1")
        let ended = try await waiting.end()
        #expect(ended.status == 0)
        #expect(ended.output == "")
        #expect(ended.errors == "")
    }

    @Test("wait exits at once if the target is already as wanted")
    func already() async throws {
        let namespace = try await Namespace(.gateway)
        #expect(try await namespace.run("wait", "192.0.2.1").status == 0)
        #expect(try await namespace.run("wait", "--not", "2001:db8::1").status == 0)
    }

    @Test("wait exits with 1 at the time-out, and names the targets that it still waits for")
    func timeout() async throws {
        let ended = try await Namespace(.subnet).run("wait", "--timeout", "0.1", "192.0.2.1", "10.0.0.9")
        #expect(ended.status == 1)
        #expect(ended.output == "")
        #expect(ended.errors == "reachability: time-out: 192.0.2.1  Not Reachable  (no route)\n")
        let not = try await Namespace(.gateway).run("wait", "--timeout", "0", "--not", "192.0.2.1")
        #expect(
            not.errors == "reachability: time-out: 192.0.2.1  still reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n")
    }

    @Test("A time-out of 0 reads the state once")
    func noTime() async throws {
        let namespace = try await Namespace(.gateway)
        #expect(try await namespace.run("wait", "--timeout", "0", "192.0.2.1").status == 0)
        #expect(try await namespace.run("wait", "--timeout", "0", "--not", "192.0.2.1").status == 1)
    }

    @Test("--not waits until the target is not reachable")
    func not() async throws {
        let namespace = try await Namespace(.gateway)
        let waiting = try namespace.start("wait", "--not", "192.0.2.1")
        try await namespace.until(isWatched: true)
        try await namespace.ip("route delete default")
        #expect(try await waiting.end().status == 0)
    }

    @Test("wait needs all targets; with --any, one is enough")
    func several() async throws {
        let namespace = try await Namespace(.subnet)
        let all = try namespace.start("wait", "--json", "192.0.2.1", "198.51.100.1")
        let any = try namespace.start("wait", "--json", "--any", "192.0.2.1", "198.51.100.1")
        try await namespace.until(isWatched: true)
        try await namespace.ip("route add 192.0.2.0/24 via 10.0.0.1")
        #expect(try await states(at: any.end()) == [true, false])
        try await namespace.ip("route add 198.51.100.0/24 via 10.0.0.1")
        #expect(try await states(at: all.end()) == [true, true])
    }

    private func states(at end: Ended) throws -> [Bool] {
        #expect(end.status == 0)
        return try end.output.split(separator: "\n").map { try JSONLine($0).reachable }
    }

    @Test("A pending name is neither reachable nor unreachable", .nameServer)
    func pendingName() async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        #expect(try await namespace.run("wait", "--timeout", "0.1", "host.invalid").status == 1)
        #expect(try await namespace.run("wait", "--timeout", "0.1", "--not", "host.invalid").status == 1)
        server.sendReplies()
        #expect(try await namespace.run("wait", "--not", "host.invalid").status == 0)
    }

    @Test("--for waits until the target is reachable for so long")
    func forTime() async throws {
        let namespace = try await Namespace(.gateway)
        let short = try await namespace.run("wait", "--for", "1h", "--timeout", "0.1", "192.0.2.1", "2001:db8::1")
        #expect(short.status == 1)
        #expect(
            short.errors == """
                reachability: time-out: 192.0.2.1  not for long enough
                reachability: time-out: 2001:db8::1  Not Reachable  (no route)

                """)
        // It does not end before the route comes, however long this task has to wait for its turn.
        try await namespace.ip("route delete default")
        let waiting = try namespace.start("wait", "--for", "2", "192.0.2.1")
        try await namespace.until(isWatched: true)
        let start = ContinuousClock.now
        try await namespace.ip("route add default via 10.0.0.1")
        #expect(try await waiting.end().status == 0)
        #expect(start.duration(to: .now) >= .seconds(2))
    }

    @Test("--for goes with --any and --not")
    func forAnyNot() async throws {
        let namespace = try await Namespace(.gateway)
        let start = ContinuousClock.now
        let ended = try await namespace.run("wait", "--any", "--not", "--for", "200ms", "192.0.2.1", "2001:db8::1")
        #expect(ended.status == 0 && start.duration(to: .now) >= .milliseconds(200))
    }

    @Test("--print prints the line of each target when it is met, once")
    func print() async throws {
        let namespace = try await Namespace(.subnet)
        let waiting = try namespace.start("wait", "--print", "10.0.0.9", "192.0.2.1")
        #expect(try await waiting.nextLine() == "10.0.0.9  Reachable,Directly Reachable Address  dev e0  src 10.0.0.2")
        try await namespace.ip("route add default via 10.0.0.1")
        let ended = try await waiting.end()
        #expect(ended.status == 0 && ended.errors == "")
        #expect(ended.output == "192.0.2.1  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n")
        #expect(try await JSONLine(namespace.run("wait", "--print", "--json", "192.0.2.1").output).reachable)
    }

    @Test("--json prints the states at the end")
    func json() async throws {
        let ended = try await Namespace(.gateway).run("wait", "--json", "192.0.2.1", "10.0.0.9")
        let objects = try ended.output.split(separator: "\n").map { try JSONLine($0) }
        #expect(objects.map(\.target) == ["192.0.2.1", "10.0.0.9"])
        #expect(objects.map(\.reachable) == [true, true])
    }
}
#endif
