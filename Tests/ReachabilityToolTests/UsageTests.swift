// SPDX-License-Identifier: MIT

import CReachability
import TestSupport
import Testing

@Suite("Usage", .tool, .patient)
struct UsageTests {
    @Test(
        "Wrong usage exits with 64, and prints only to standard error",
        arguments: [
            [], ["bogus"], ["-r"], ["-W"], ["check"], ["wait"], ["check", "--bogus", "127.0.0.1"],
            ["check", "--timeout", "soon", "127.0.0.1"], ["check", "--timeout=-1", "127.0.0.1"],
            ["wait", "--timeout", "nan", "127.0.0.1"], ["watch", "--timeout", "inf"],
            ["check", "--source", "host", "127.0.0.1"], ["check", "--interface", "", "127.0.0.1"],
            ["check", "--interface", "sixteen.letters.", "127.0.0.1"], ["-r", "127.0.0.1", "check", "127.0.0.1"],
            ["-r", "127.0.0.1", "--json"],
        ])
    func invalid(arguments: [String]) async throws {
        let ended = try await Tool.start(arguments).end()
        #expect(ended.status == 64)
        #expect(ended.output == "")
        #expect(ended.errors != "")
    }

    @Test("The message says what is wrong with a source")
    func source() async throws {
        let ended = try await Tool.run("check", "--source", "bogus", "127.0.0.1")
        #expect(ended.errors.contains("The source 'bogus' is not an address.\n"))
        let zoned = try await Tool.run("check", "--source", "fe80::1%nosuch", "fe80::2")
        #expect(zoned.errors.contains("The source 'fe80::1%nosuch' names an interface that does not exist.\n"))
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
