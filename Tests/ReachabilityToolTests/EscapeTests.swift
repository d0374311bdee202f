// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

/// A target whose name would clear the terminal. No name server is needed: it is an address with a zone.
let hostileTarget = "fe80::1%a\u{1B}[2J\u{9B}\u{7F}\\"
let escapedTarget = #"fe80::1%a\x1b[2J\xc2\x9b\x7f\\"#

@Suite("Control characters of names", .namespace, .limited)
struct EscapeTests {
    @Test("check, and its --debug, escape them")
    func check() async throws {
        let ended = try await Namespace(.subnet).run("check", "--debug", hostileTarget)
        #expect(ended.output == "\(escapedTarget)  Not Reachable  (interface missing)\n")
        #expect(ended.errors.contains("{address = \(escapedTarget)}\n"))
        expectNone(in: ended.errors)
    }

    @Test("check escapes those of an interface")
    func interface() async throws {
        let namespace = try await Namespace(.subnet)
        try await namespace.ip(
            """
            link set e0 down
            link set e0 name a\u{1B}[2J
            link set a\u{1B}[2J up
            address replace 10.0.0.2/24 dev a\u{1B}[2J
            """)
        let ended = try await namespace.run("check", "10.0.0.9")
        #expect(ended.output.contains(#"  dev a\x1b[2J  "#))
        expectNone(in: ended.output)

        try await namespace.ip(
            """
            address add 2001:db8::2/64 dev a\u{1B}[2J nodad
            route add default via fe80::1 dev a\u{1B}[2J
            """)
        let routed = try await namespace.run("check", "2001:db8:1::9")
        #expect(routed.output.contains(#"  via fe80::1%a\x1b[2J  "#))
        expectNone(in: routed.output)
    }

    @Test("check escapes those that order the text of a line, and so does --json")
    func direction() async throws {
        let target = "fe80::1%a\u{202E}b\u{2067}"
        let ended = try await Namespace(.subnet).run("check", target)
        #expect(ended.output == #"fe80::1%a\xe2\x80\xaeb\xe2\x81\xa7  Not Reachable  (interface missing)"# + "\n")
        let json = try await Namespace(.subnet).run("check", "--json", target)
        #expect(json.output.contains(#""fe80::1%a\u202eb\u2067""#))
        #expect(try JSONLine(json.output).target == target)
    }

    @Test("watch escapes them")
    func watch() async throws {
        let watching = try await Namespace(.subnet).start("watch", hostileTarget)
        #expect(try await watching.nextLine().hasSuffix("  \(escapedTarget)  Not Reachable  (interface missing)"))
        try await watching.stop()
    }

    @Test("wait escapes them at the time-out")
    func wait() async throws {
        let ended = try await Namespace(.subnet).run("wait", "--timeout", "0", hostileTarget)
        #expect(
            ended.errors == "reachability: time-out: \(escapedTarget)  Not Reachable  (interface missing)\n")
    }

    @Test("-W -r escapes them")
    func scutil() async throws {
        let watching = try await Namespace(.subnet).start("-W", "-r", hostileTarget)
        #expect(try await watching.nextLine() == " 0: direct")
        #expect(try await watching.nextLine().hasSuffix("{address = \(escapedTarget)}"))
        watching.send(SIGTERM)
        _ = try await watching.end()
    }

    @Test("--json has the escapes of JSON")
    func json() async throws {
        let ended = try await Namespace(.subnet).run("check", "--json", hostileTarget)
        #expect(try JSONLine(ended.output).target == hostileTarget)
        #expect(ended.output.contains(#"a\u001b[2J\u009b\u007f\\""#))
        expectNone(in: ended.output)
    }

    @Test("Messages about wrong usage escape them")
    func usage() async throws {
        for arguments in [
            ["--a\u{1B}[2J\nb"], ["check", "--timeout", "\u{1B}[2J"], ["-r", "a", "\u{1B}"],
        ] {
            let ended = try await Tool.start(arguments).end()
            #expect(ended.status == 64)
            #expect(ended.errors.contains(#"\x1b"#) && ended.output == "")
            expectNone(in: ended.errors)
        }
    }

    @Test("The suggestion of a command escapes them", .nameServer)
    func hint() async throws {
        let namespace = try await Namespace(.subnet)
        let server = try NameServer(in: namespace)
        server.sendReplies()
        let ended = try await namespace.run("chek\u{1B}")
        #expect(ended.status == 1 && ended.errors.contains(#"'chek\x1b' is not a command either"#))
        expectNone(in: ended.output + ended.errors)
    }

    @Test("Messages escape them", arguments: ["/\u{1B}[2J", "a,\u{1B}[2J"])
    func messages(target: String) async throws {
        let ended = try await Tool.start(["check", target]).end()
        #expect(ended.status == 64)
        #expect(ended.errors.contains(#"\x1b[2J"#))
        expectNone(in: ended.errors)
    }

    private func expectNone(in output: String, _ location: SourceLocation = #_sourceLocation) {
        let controls = output.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
        #expect(controls.isEmpty, sourceLocation: location)
    }
}
#endif
