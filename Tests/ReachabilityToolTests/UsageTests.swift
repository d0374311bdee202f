// SPDX-License-Identifier: MIT

import CReachability
import TestSupport
import Testing

@Suite("Usage", .tool, .timeLimit(.minutes(1)))
struct UsageTests {
    @Test(
        "What is no usage ends with 64, and with a message on standard error alone",
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

    @Test("--version tells the library's")
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

    @Test("Completions are there for each shell", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let ended = try await Tool.run("--generate-completion-script", shell)
        #expect(ended.status == 0)
        for word in ["check", "watch", "wait", "interface", "exec"] { #expect(ended.output.contains(word)) }
        // Where the shell is there, it has to understand them.
        guard try await RunningProcess(["sh", "-c", "command -v \(shell)"]).end().status == 0 else { return }
        let read = try await RunningProcess([shell, "-n", "/dev/stdin"], input: .text(ended.output)).end()
        #expect(read.status == 0)
        #expect(read.errors == "")
    }

    @Test("bash completes commands, options, and the names of interfaces")
    func completing() async throws {
        let script = """
            source <("$0" --generate-completion-script bash)
            COMP_WORDS=(reachability "$@") COMP_CWORD=$# COMP_LINE="reachability $*" COMP_POINT=${#COMP_LINE}
            _reachability reachability "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        func complete(_ words: String...) async throws -> [Substring] {
            let ended = try await RunningProcess(["bash", "-c", script, Tool.path] + words).end()
            return ended.output.split(whereSeparator: \.isWhitespace).sorted()
        }
        #expect(try await complete("wa") == ["wait", "watch"])
        #expect(try await complete("watch", "--ex") == ["--exec"])
        #expect(try await complete("check", "--interface", "l").contains("lo"))
    }
}
