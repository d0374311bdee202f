// SPDX-License-Identifier: MIT

#if Tool
import CReachability
import Foundation
import TestSupport
import Testing

@Suite("Usage", .limited)
struct UsageTests {
    @Test(
        "Wrong usage exits with 64, and prints only to standard error",
        arguments: [
            ["-r"], ["-W"], ["check", "--bogus", "127.0.0.1"],
            ["check", "--timeout", "soon", "127.0.0.1"], ["check", "--timeout=-1", "127.0.0.1"],
            ["wait", "--timeout", "nan", "127.0.0.1"], ["watch", "--timeout", "inf"],
            ["check", "--source", "host", "127.0.0.1"], ["check", "--interface", "", "127.0.0.1"],
            ["check", "--interface", "sixteen.letters.", "127.0.0.1"], ["-r", "127.0.0.1", "check", "127.0.0.1"],
            ["-r", "127.0.0.1", "--json"], ["-W", "-r"], ["check", "--quiet", "--json"], ["--json", "watch"],
            ["check", "--tcp", "0"], ["check", "--udp", "65536"],
            ["check", "--tcp", "80", "--udp", "80"], ["check", "--mark", "0x"], ["watch", "--mark", "4294967296"],
            ["check", "--mark", "+1"], ["--tcp", "80", "watch"],
            ["check", "-4", "-6"], ["check", "-4", "2001:db8::1"], ["watch", "-6", "192.0.2.1"],
            ["check", "-6", "192.0.2.2,192.0.2.1"], ["wait", "-4", "fe80::1%lo"],
        ])
    func invalid(arguments: [String]) async throws {
        let ended = try await Tool.start(arguments).end()
        #expect(ended.status == 64)
        #expect(ended.output == "")
        #expect(ended.errors.hasPrefix("reachability: ") && !ended.errors.contains("Error"))
    }

    @Test("A target alone is checked", .namespace)
    func targetAlone() async throws {
        let namespace = try await Namespace(.gateway)
        for arguments in [
            ["192.0.2.1"], ["--interface", "e0", "192.0.2.1"], ["192.0.2.1", "--timeout", "1"], ["--", "192.0.2.1"],
        ] {
            let ended = try await namespace.start([Tool.path] + arguments).end()
            #expect(ended.status == 0 && ended.output == "192.0.2.1  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n")
        }
    }

    @Test(
        "A word is a host: a command is suggested after the look-up has failed", .namespace, .nameServer,
        arguments: [
            (["chek"], "check"), (["Check"], "check"), (["wach"], "watch"), (["mail"], "wait"),
            (["git"], "wait"), (["helm"], "help"), (["192.0.2.1", "mail"], nil), (["check", "mail"], nil),
            (["--", "mail"], nil), (["--tcp", "80", "mail"], "wait"), (["-q", "mail"], nil), (["mail.invalid"], nil),
            (["printer"], nil),
        ] as [([String], String?)])
    func hint(arguments: [String], command: String?) async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        server.sendReplies()
        let ended = try await namespace.start([Tool.path] + arguments).end()
        let word = arguments.last ?? ""
        #expect(ended.status == 1)
        #expect(ended.output.hasSuffix("\(word)  Not Reachable  (name not found)\n") || arguments.contains("-q"))
        let hint = command.map {
            "reachability: '\(word)' is not a command either; did you mean 'reachability \($0)'?\n"
        }
        #expect(ended.errors == hint ?? "")
    }

    @Test("No word is refused for its letters", .namespace)
    func words() async throws {
        let words = ["mail", "git", "nat", "wan", "main", "switch", "hp", "tel", "match", "helm"]
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: words.map { "192.0.2.1 \($0)\n" }.joined())
        for arguments in [words, ["192.0.2.1"] + words, ["--flags"] + words, ["-4"] + words] {
            let ended = try await folder.start(in: namespace, arguments).end()
            #expect(ended.status == 0 && ended.errors == "")
            #expect(ended.output.split(separator: "\n").count == arguments.filter { !$0.hasPrefix("-") }.count)
        }
    }

    @Test("The name of a command is a host after a host, after check, and after --", .namespace)
    func namesOfCommands() async throws {
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: "192.0.2.1 db help watch check\n")
        for arguments in [
            ["db", "help"], ["db", "watch", "--timeout", "60"], ["check", "help"], ["--", "watch"], ["check", "check"],
        ] {
            let ended = try await folder.start(in: namespace, arguments).end()
            #expect(ended.status == 0 && ended.errors == "", "\(arguments)")
            #expect(ended.output.contains("\(arguments.contains("help") ? "help" : arguments[1])  Reachable"))
        }
    }

    @Test("A command after an option is not taken for a host")
    func misplaced() async throws {
        let ended = try await Tool.run("--json", "watch", "192.0.2.1")
        #expect(ended.errors == "reachability: the command comes first: reachability watch ...\n")
    }

    @Test("The tool knows its arguments where /proc is not mounted", .namespace)
    func noProc() async throws {
        let script = "mount -t tmpfs none /proc && exec \"$0\" check 127.0.0.1 ::1"
        let command = ["unshare", "--mount", "--user", "--map-root-user", "sh", "-c", script, Tool.path]
        // Not the status, nor the errors: the leak sanitizer needs /proc, and fails at the end.
        let output = try await Namespace("link set lo up").start(command).end().output
        let targets = output.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(targets == ["127.0.0.1", "::1"])
    }

    @Test("The help and the manual list the code of every reason in the header")
    func codes() async throws {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let header = try String(contentsOfFile: root + "/include/reachability/reachability.h", encoding: .utf8)
        let manual = try String(contentsOfFile: root + "/docs/tool.md", encoding: .utf8)
        let help = try await Tool.run("check", "--help").output
        let reasons = header.matches(of: /kSCNetworkReachabilityReason([A-Z][A-Za-z]*) *= [1-9]/).map { String($0.1) }
        #expect(reasons.count >= 13)
        for reason in reasons {
            let code = reason.prefix(1).lowercased() + reason.dropFirst()
            #expect(help.contains(code) && manual.contains("`\(code)`"), "\(code)")
        }
    }

    @Test("The message says what is wrong with a source")
    func source() async throws {
        let ended = try await Tool.run("check", "--source", "bogus", "127.0.0.1")
        #expect(ended.errors.contains("reachability: the source 'bogus' is not an address\n"))
        let zoned = try await Tool.run("check", "--source", "fe80::1%nosuch", "fe80::2")
        #expect(zoned.errors.contains("the source 'fe80::1%nosuch' names an interface that does not exist\n"))
    }

    @Test("--version prints the version of the library")
    func version() async throws {
        let ended = try await Tool.run("--version")
        #expect(ended.status == 0)
        #expect(ended.output == "\(String(cString: SCNetworkReachabilityGetVersion()))\n")
    }

    @Test("--help says what reachable means")
    func help() async throws {
        let ended = try await Tool.run("--help")
        #expect(ended.status == 0)
        #expect(ended.output.contains("never means that the"))
    }
}
#endif
