// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import TestSupport
import Testing

@Suite("check", .namespace, .limited)
struct CheckTests {
    @Test("An address behind a gateway is reachable, and the line shows the way")
    func gateway() async throws {
        let ended = try await Namespace(.gateway).run("check", "192.0.2.1")
        #expect(ended.status == 0)
        #expect(ended.output == "192.0.2.1  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n")
        #expect(ended.errors == "")
    }

    @Test("An address without a route is not reachable, and the line shows the reason")
    func noRoute() async throws {
        let ended = try await Namespace(.subnet).run("check", "192.0.2.1")
        #expect(ended.status == 1)
        #expect(ended.output == "192.0.2.1  Not Reachable  (no route)\n")
    }

    @Test("The line shows the type of an interface that is not a cable")
    func kind() async throws {
        let namespace = try await Namespace(.subnet)
        try await namespace.ip(
            """
            tuntap add name t0 mode tun
            address add 10.9.0.1/24 dev t0
            link set t0 up
            """)
        let ended = try await namespace.run("check", "10.9.0.9")
        #expect(ended.output == "10.9.0.9  Not Reachable  dev t0  type tunnel  src 10.9.0.1  (no carrier)\n")
    }

    @Test("One unreachable target is enough for status 1, and lines are in the order of the targets")
    func several() async throws {
        let namespace = try await Namespace(.subnet)
        let ended = try await namespace.run("check", "10.0.0.9", "192.0.2.1", "127.0.0.1")
        #expect(ended.status == 1)
        #expect(
            ended.output == """
                10.0.0.9  Reachable,Directly Reachable Address  dev e0  src 10.0.0.2
                192.0.2.1  Not Reachable  (no route)
                127.0.0.1  Reachable,Local Address,Directly Reachable Address  dev lo  src 127.0.0.1

                """)
    }

    @Test("LOCAL of LOCAL,REMOTE must be an address of this machine")
    func pair() async throws {
        let namespace = try await Namespace(.gateway)
        #expect(try await namespace.run("check", "10.0.0.2,192.0.2.1").status == 0)
        let foreign = try await namespace.run("check", "10.0.0.3,192.0.2.1")
        #expect(foreign.status == 1)
        #expect(foreign.output.hasSuffix("(local address not assigned)\n"))
    }

    @Test("Either half of LOCAL,REMOTE may be left out")
    func halfPair() async throws {
        let namespace = try await Namespace(.gateway)
        #expect(try await namespace.run("check", "10.0.0.2,", ",192.0.2.1").status == 0)
        #expect(try await namespace.run("check", "10.0.0.3,").status == 1)
    }

    @Test("--source is a pair's local address")
    func source() async throws {
        let namespace = try await Namespace(.gateway)
        #expect(try await namespace.run("check", "--source", "10.0.0.2", "192.0.2.1").status == 0)
        #expect(try await namespace.run("check", "--source", "10.0.0.3", "192.0.2.1").status == 1)
    }

    @Test("--interface uses only routes out of it, and it need not exist")
    func interface() async throws {
        let namespace = try await Namespace(.gateway)
        #expect(try await namespace.run("check", "--interface", "e0", "192.0.2.1").status == 0)
        let other = try await namespace.run("check", "--interface", "e1", "192.0.2.1")
        #expect(other.status == 1)
        #expect(other.output.hasSuffix("(no route)\n"))
        let missing = try await namespace.run("check", "--interface", "nosuch", "192.0.2.1")
        #expect(missing.status == 1)
        #expect(missing.output == "192.0.2.1  Not Reachable  (interface missing)\n")
    }

    @Test("--tcp and --udp ask about a port, for which a rule can decide otherwise")
    func port() async throws {
        let namespace = try await Namespace(.gateway + "\nrule add ipproto tcp dport 443 prohibit")
        let way = "dev e0  via 10.0.0.1  src 10.0.0.2"
        for (arguments, status, output) in [
            (["--tcp", "443"], 1, "192.0.2.1  Not Reachable  (route prohibited)\n"),
            (["--tcp", "80"], 0, "192.0.2.1  Reachable  \(way)\n"),
            (["--udp", "443"], 0, "192.0.2.1  Reachable  \(way)\n"),
            ([], 0, "192.0.2.1  Reachable  \(way)  flow incomplete\n"),
            (["--source", "10.0.0.2", "--tcp", "443"], 1, "192.0.2.1  Not Reachable  (route prohibited)\n"),
        ] {
            let ended = try await namespace.start([Tool.path, "check"] + arguments + ["192.0.2.1"]).end()
            #expect(ended.status == status && ended.output == output)
        }
        #expect(try await namespace.run("wait", "--timeout", "0", "--tcp", "80", "192.0.2.1").status == 0)
        #expect(try await namespace.run("wait", "--timeout", "0", "--tcp", "443", "192.0.2.1").status == 1)
        #expect(try await namespace.run("check", "--tcp", "443").status == 1)
    }

    @Test("--mark asks about packets with a routing mark")
    func mark() async throws {
        let namespace = try await Namespace(.gateway + "\nrule add fwmark 0x10 prohibit")
        #expect(try await namespace.run("check", "--mark", "0x10", "192.0.2.1").status == 1)
        #expect(try await namespace.run("check", "--mark", "16", "192.0.2.1").status == 1)
        #expect(try await namespace.run("check", "--mark", "17", "192.0.2.1").status == 0)
    }

    @Test("--json prints one object for each target, with every key")
    func json() async throws {
        let namespace = try await Namespace(.gateway)
        let start = Date.now
        let ended = try await namespace.run("check", "--json", "192.0.2.1", "::1%nosuch")
        #expect(ended.status == 1)
        let objects = try ended.output.split(separator: "\n").map { try JSONLine($0) }
        try #require(objects.count == 2)
        #expect(objects[0].target == "192.0.2.1")
        #expect(objects[0].flags == "Reachable")
        #expect(objects[0].value == 2)
        #expect(objects[0].reachable)
        #expect(objects[0].status == "reachable" && objects[0].flagNames == ["reachable"])
        #expect(objects[0].reason == nil)
        #expect(objects[0].interface?.name == "e0")
        #expect(objects[0].interface?.type == "virtual")
        #expect(objects[0].gateway == "10.0.0.1")
        #expect(objects[0].source == "10.0.0.2")
        #expect(objects[0].destination == "192.0.2.1" && objects[0].evidence == "kernel")
        #expect(objects[0].flow == [] && objects[0].schema == 1 && objects[0].addresses == ["192.0.2.1"])
        #expect(objects[0].mtu == 1500 && objects[0].table == 254)
        // Whole milliseconds.
        #expect((start.addingTimeInterval(-0.001)...Date.now).contains(objects[0].time))
        #expect(objects[1].reachable == false)
        #expect(objects[1].status == "unreachable" && objects[1].flagNames == [])
        #expect(objects[1].reason == "interfaceMissing")
        #expect(objects[1].interface == nil)
        for line in ended.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?.keys.sorted() == JSONLine.keys)
        }
    }

    @Test("--debug prints the description on standard error")
    func debug() async throws {
        let ended = try await Namespace(.gateway).run("check", "--debug", "192.0.2.1")
        #expect(ended.output == "192.0.2.1  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n")
        #expect(ended.errors.hasPrefix("<SCNetworkReachability 0x"))
        #expect(ended.errors.contains("{address = 192.0.2.1}"))
    }

    @Test(
        "A pending name is not reachable, even if the default path is", .nameServer
    )
    func pendingName() async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        let ended = try await namespace.run("check", "--timeout", "0.1", "host.invalid")
        #expect(ended.status == 1)
        #expect(ended.output == "host.invalid  Pending  (name pending)\n")
        let json = try await namespace.run("check", "--json", "--timeout", "0.1", "host.invalid")
        let object = try JSONLine(json.output)
        #expect(object.status == "pending" && !object.reachable && object.reason == "namePending")
        // Those of the default path would be taken for the host's.
        #expect(object.flags == nil && object.flagNames == nil && object.value == nil && object.addresses == [])
        let fields = try await namespace.run("check", "--format", "tsv", "--timeout", "0.1", "host.invalid").output
        #expect(fields.hasPrefix("host.invalid\tpending\tnamePending\t") && fields.contains("\t-\t20"))
        server.sendReplies()
        #expect(
            try await namespace.run("check", "host.invalid").output == "host.invalid  Not Reachable  (name not found)\n"
        )
    }

    @Test(
        "Each line comes as soon as it and those before it are known", .nameServer, arguments: [[], ["--json"]])
    func linesAtOnce(options: [String]) async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        let arguments = options + ["127.0.0.1", "host.invalid", "192.0.2.1"]
        let checking = try namespace.start([Tool.path, "check", "--timeout", "60"] + arguments)
        #expect(try await checking.nextLine().contains("127.0.0.1"))
        await server.waitForRequest()
        server.sendReplies()
        #expect(try await checking.nextLine().contains("host.invalid"))
        #expect(try await checking.nextLine().contains("192.0.2.1"))
        #expect(try await checking.end().status == 1)
    }

    @Test("On a terminal no line waits for another, and the first one is completed later", .nameServer)
    func linesOnTerminal() async throws {
        let terminal = try Terminal(columns: 80, rows: 24)
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        let checking = try namespace.start(
            "check", "--timeout", "60", "host.invalid", "a b", "192.0.2.1", environment: ["TERM": "xterm"],
            output: terminal.screen)
        let first = try await terminal.until("src 10.0.0.2\r\n")
        #expect(first.withoutColours.hasPrefix("host.invalid  Pending\r\n192.0.2.1     Reachable  dev e0"))
        server.sendReplies()
        let second = try await terminal.until("src 10.0.0.2\r\n")
        #expect(second.hasPrefix("\u{1B}[2A\u{1B}[J"))
        #expect(
            second.withoutColours.dropFirst(7).hasPrefix(
                """
                host.invalid  Not Reachable  (name not found)\r
                192.0.2.1     Reachable                        dev e0
                """))
        let ended = try await checking.end()
        #expect(ended.status == 64)
        #expect(ended.errors.hasPrefix("reachability: a b: "))
    }

    @Test(
        "On a terminal, columns are aligned, flags have no blanks, and the status has a colour unless --color is never",
        arguments: [
            ([], [:], true), ([], ["NO_COLOR": "1"], false), (["--color", "never"], [:], false),
            (["--color", "always"], ["NO_COLOR": "1"], true),
        ])
    func columns(options: [String], environment: [String: String], isColoured: Bool) async throws {
        let terminal = try Terminal(columns: 120, rows: 24)
        let namespace = try await Namespace(.gateway + "\nroute add prohibit 198.51.100.0/24")
        let checking = try namespace.start(
            [Tool.path, "check", "192.0.2.1", "127.0.0.1", "198.51.100.7"] + options,
            environment: environment.merging(["TERM": "xterm"]) { $1 }, output: terminal.screen)
        let text = try await terminal.until("prohibited)")
        #expect(text.contains("\u{1B}[32mReachable\u{1B}[39m  ") == isColoured)
        #expect(text.contains("\u{1B}[31mNot Reachable\u{1B}[39m  ") == isColoured)
        #expect(
            text.withoutColours == """
                192.0.2.1     Reachable                          dev e0  via 10.0.0.1  src 10.0.0.2\r
                127.0.0.1     Reachable                          dev lo                src 127.0.0.1  \
                isLocalAddress,isDirect\r
                198.51.100.7  Not Reachable  (route prohibited)
                """)
        #expect(try await checking.end().status == 1)
    }

    @Test("On a terminal, a line that has left the screen is printed again", .nameServer)
    func linesOffTerminal() async throws {
        let terminal = try Terminal(columns: 80, rows: 3)
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        let checking = try namespace.start(
            "check", "--timeout", "60", "host.invalid", "192.0.2.1", "192.0.2.2", "192.0.2.3",
            environment: ["TERM": "xterm"], output: terminal.screen)
        #expect(try await terminal.until("192.0.2.3  ").withoutColours.hasPrefix("host.invalid  Pending\r\n"))
        server.sendReplies()
        #expect(try await terminal.until("(name not found)").withoutColours.contains("host.invalid  Not Reachable"))
        #expect(try await checking.end().status == 1)
    }

    @Test("The time-out of names counts from the start of the command", .nameServer)
    func oneTimeout() async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        let names = (1...300).map { "host\($0).invalid" }
        let start = ContinuousClock.now
        let ended = try await namespace.start([Tool.path, "check", "--timeout", "1"] + names).end()
        #expect(start.duration(to: .now) < .seconds(200))  // one after the other they take 300
        #expect(ended.output == names.map { "\($0)  Pending  (name pending)\n" }.joined())
        withExtendedLifetime(server) {}
    }

    @Test(
        "A text that cannot be a target exits with 64 and a reason",
        arguments: [
            "", "https://example.com", "a b", "10.0.0.2,host", ",", "10.0.0.2,::1", "name,", "a\u{FFFE}.example",
        ])
    func unusable(target: String) async throws {
        let ended = try await Namespace().run("check", target)
        #expect(ended.status == 64)
        #expect(ended.output == "")
        #expect(ended.errors.hasPrefix("reachability: \(target): "))
        #expect(ended.errors.filter { $0 == "\n" }.count == 1)
    }

    @Test(
        "The message says what is wrong with a target",
        arguments: [
            (["", "--json"], ": is empty"), ([","], ": is neither a local nor a remote address"),
            (["192.0.2.2,::1"], ": one address is IPv4, the other IPv6"),
            (["--source", "::", "192.0.2.1"], ": the source is ::: one address is IPv4"),
            (["--interface", "e0", "fe80::1%lo"], ": has another zone than the interface e0"),
            ([String(repeating: "a", count: 1025)], ": a name has at most 1024 bytes"),
            (["host:80"], ": is neither a name nor an address; leave out a port"),
            (["[::1]"], ": is neither a name nor an address; leave out a port, and brackets: ::1"),
            (["[fe80::1%25lo]:80"], ": is neither a name nor an address; leave out a port, and brackets: fe80::1%lo"),
            (["--interface", "sixteen.letters.", "192.0.2.1"], "15 bytes"),
            (["300.1.2.3"], "300.1.2.3: is not an address, and no name ends in a number"),
            (["1.2.3.4.5"], ": is not an address"), (["host.0x1g", "host.0xff"], "host.0xff: is not an address"),
        ])
    func flaw(arguments: [String], text: String) async throws {
        let ended = try await Tool.start(["check"] + arguments).end()
        #expect(ended.status == 64)
        #expect(ended.errors.contains(text))
        #expect(!ended.errors.contains("Invalid argument"))
    }

    @Test("After a bad target the lines of the others are printed, and the status is 64")
    func oneOfFive() async throws {
        let namespace = try await Namespace(.subnet)
        let ended = try await namespace.run("check", "10.0.0.9", "300.1.2.3", "192.0.2.1", "127.0.0.1", "10.0.0.2")
        #expect(ended.status == 64)
        #expect(ended.errors == "reachability: 300.1.2.3: is not an address, and no name ends in a number\n")
        let targets = ended.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(targets == ["10.0.0.9", "192.0.2.1", "127.0.0.1", "10.0.0.2"])
    }

    @Test("A kernel that cannot be queried exits with 70")
    func noKernel() async throws {
        // One descriptor: enough for the dynamic linker, and too few for a socket and a loop.
        let script = "ulimit -n 4; exec \"$0\" check 127.0.0.1"
        let ended = try await RunningProcess(["sh", "-c", script, Tool.path]).end()
        #expect(ended.status == 70)
        #expect(ended.output == "")
        #expect(ended.errors.hasSuffix(": Too many open files\n"))
    }

    @Test("An IPv4 address in an unusual form is shown in the usual one, too")
    func unusualForm() async throws {
        let namespace = try await Namespace(.subnet)
        let ended = try await namespace.run("check", "1", "012.0.0.011", "127.1")
        #expect(
            ended.output == """
                1 (0.0.0.1)  Not Reachable  (no route)
                012.0.0.011 (10.0.0.9)  Reachable,Directly Reachable Address  dev e0  src 10.0.0.2
                127.1 (127.0.0.1)  Reachable,Local Address,Directly Reachable Address  dev lo  src 127.0.0.1

                """)
    }

    @Test("Without a target, and as 'default', it is the default path; 'default.' is a name")
    func defaultPath() async throws {
        let namespace = try await Namespace(.gateway)
        let line = "default  Reachable  dev e0  via 10.0.0.1  src 10.0.0.2\n"
        for arguments in [["check"], ["check", "default"], ["default"], ["default", "--interface", "e0"]] {
            let ended = try await namespace.start([Tool.path] + arguments).end()
            #expect(ended.status == 0 && ended.output == line, "\(arguments)")
        }
        #expect(try await namespace.run("wait", "--timeout", "0").status == 0)
        #expect(try await namespace.run("wait", "--timeout", "0", "default").status == 0)
        #expect(try await JSONLine(namespace.run("check", "--json").output).target == "default")
        let name = try await namespace.run("check", "--timeout", "0", "default.")
        #expect(name.output.hasPrefix("default.  ") && name.status == 1)
    }

    @Test("--quiet prints only errors")
    func quiet() async throws {
        let namespace = try await Namespace(.subnet)
        for (arguments, status) in [(["127.0.0.1"], 0), (["192.0.2.1"], 1), (["--not", "127.0.0.1"], 1)]
            as [([String], Int32)]
        {
            let command = arguments.count > 1 ? ["wait", "--timeout", "0"] : ["check"]
            for option in ["-q", "--quiet"] {
                let ended = try await namespace.start([Tool.path] + command + [option] + arguments).end()
                #expect(ended.status == status && ended.output == "" && ended.errors == "")
            }
        }
        #expect(try await namespace.run("check", "-q", "a b").errors.hasPrefix("reachability: a b: "))
    }

    @Test("A source address goes with addresses, not with names")
    func sourceOfName() async throws {
        let ended = try await Namespace().run("check", "--source", "127.0.0.1", "host.invalid")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("not a name"))
    }

    @Test("A list of targets may begin with the mark of UTF-8, and its lines may end as on Windows")
    func listOfWindows() async throws {
        let script = #"printf '\357\273\277127.0.0.1\r\n127.0.0.2\r\n' | "$0" check --format tsv -"#
        let ended = try await RunningProcess(["sh", "-c", script, Tool.path]).end()
        #expect(ended.status == 0)
        #expect(ended.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == ["127.0.0.1", "127.0.0.2"])
    }

    @Test("A closed standard output does not change the status; a full one exits with 74")
    func output() async throws {
        func run(_ redirection: String) async throws -> Ended {
            let script = "\"$0\" check 127.0.0.1 \(redirection)"
            return try await RunningProcess(["sh", "-c", script, Tool.path]).end()
        }
        #expect(try await run(">&-").status == 0)
        #expect(try await run("<&- >&- 2>&-").status == 0)
        let full = try await run(">/dev/full")
        #expect(full.status == 74)
        #expect(full.errors == "reachability: standard output: No space left on device\n")
        // Nothing can be written there, as on a broken disk.
        #expect(try await run(">/proc/$$/mem").status == 74)
        #expect(try await run(">/proc/self/mem").status == 74)
    }
}
#endif
