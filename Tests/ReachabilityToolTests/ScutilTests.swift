// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

@Suite("-r and -W -r", .namespace, .limited)
struct ScutilTests {
    @Test("-r prints only the flags, and exits with 0 for any flags")
    func flags() async throws {
        let namespace = try await Namespace(.gateway)
        for (target, text) in [
            ("192.0.2.1", "Reachable"), ("10.0.0.9", "Reachable,Directly Reachable Address"),
            ("10.0.0.2", "Reachable,Local Address,Directly Reachable Address"),
            ("10.0.0.2,192.0.2.1", "Reachable"), ("2001:db8::1", "Not Reachable"), ("0.0.0.0", "Reachable"),
            ("default", "Reachable"),
        ] {
            let ended = try await namespace.run("-r", target)
            #expect(ended.output == text + "\n", "\(target)")
            #expect(ended.status == 0)
            #expect(ended.errors == "")
        }
    }

    @Test("A target that cannot be created gives the message of Apple's tool", arguments: ["", "a,b"])
    func invalid(target: String) async throws {
        for arguments in [["-r", target], ["-W", "-r", target]] {
            let ended = try await Tool.start(arguments).end()
            #expect(ended.status == 1)
            #expect(ended.output == "")
            #expect(ended.errors == "  Could not determine status: Invalid argument\n")
        }
    }

    @Test("-r waits until a name is looked up", .nameServer)
    func name() async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        server.sendReplies()
        let ended = try await namespace.run("-r", "host.invalid", "--timeout", "3600")
        #expect(ended.status == 0)
        #expect(ended.output == "Not Reachable\n")
    }

    @Test("-r stops waiting for a name at --timeout", .nameServer)
    func silence() async throws {
        let namespace = try await Namespace(.gateway)
        let server = try NameServer(in: namespace)
        let ended = try await namespace.run("-r", "host.invalid", "--timeout", "0.1")
        #expect(ended.status == 0)
        #expect(ended.output == "Not Reachable\n")
        withExtendedLifetime(server) {}
    }

    @Test("A standard output that cannot be used exits with 74", arguments: ["-r", "-W -r"])
    func output(options: String) async throws {
        let script = "\"$0\" \(options) 127.0.0.1 >/dev/full"
        let ended = try await RunningProcess(["sh", "-c", script, Tool.path]).end()
        #expect(ended.status == 74)
        #expect(ended.errors == "reachability: standard output: No space left on device\n")
    }

    @Test(
        "-W -r prints three parts, and then one for each callback",
        arguments: [
            ("192.0.2.1", "address = 192.0.2.1", "by address"),
            ("10.0.0.2,192.0.2.1", "local address = 10.0.0.2, remote address = 192.0.2.1", "by address pair"),
        ])
    func watch(target: String, text: String, info: String) async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("-W", "-r", target)
        func next() async throws -> String {
            // The addresses of objects differ in each run.
            try await watching.nextLine().replacing(/0x[0-9a-f]{9,}/, with: "0x...")
        }
        #expect(try await next() == " 0: direct")
        #expect(try await next() == "   <SCNetworkReachability 0x...> {\(text)}")
        #expect(try await next() == "Reachable")
        #expect(try await next() == " 1: start")
        #expect(try await next() == "   <SCNetworkReachability 0x...> {\(text)}")
        #expect(try await next() == " 2: on runloop")
        let scheduled = try await next()
        let index = try #require(
            scheduled.firstMatch(of: /if_index = (\d+)/)?.1, "the description of a scheduled target")
        #expect(scheduled == "   <SCNetworkReachability 0x...> {\(text), flags = 0x00000002, if_index = \(index)}")
        #expect(try await next() == "Reachable")

        let changes = [
            ("route delete default", "0x00000000", "Not Reachable"),
            ("route add default via 10.0.0.1", "0x00000002", "Reachable"),
        ]
        for (number, (change, value, flags)) in changes.enumerated() {
            try await namespace.ip(change)
            #expect(try await next() == "")
            #expect(try await next().wholeMatch(of: /\*\*\* \d\d:\d\d:\d\d\.\d\d\d/) != nil)
            #expect(try await next() == "")
            #expect(try await next() == " \(number + 3): callback w/flags=\(value) (info=\"\(info)\")")
            let current = value == "0x00000000" ? "0" : index
            #expect(
                try await next()
                    == "    <SCNetworkReachability 0x...> {\(text), flags = \(value), if_index = \(current)}")
            #expect(try await next() == flags)
            #expect(try await next() == "")
        }
    }

    @Test("default is the default path")
    func defaultPath() async throws {
        let watching = try await Namespace(.gateway).start("-W", "-r", "default")
        #expect(try await watching.nextLine() == " 0: direct")
        #expect(try await watching.nextLine().hasSuffix("> {default path}"))
    }

    @Test("-W -r of a name has a callback when it is looked up")
    func watchedName() async throws {
        let watching = try await Namespace(.gateway).start("-W", "-r", "host.invalid")
        var lines: [String] = []
        while lines.last?.contains("callback") != true { lines.append(try await watching.nextLine()) }
        #expect(lines[1].hasSuffix("> {name = host.invalid}"))
        #expect(lines.last?.hasSuffix("(info=\"by name\")") == true)
    }
}
#endif
