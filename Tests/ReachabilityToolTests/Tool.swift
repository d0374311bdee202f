// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

/// The tool that the package builds beside these tests.
enum Tool {
    static let path: String = {
        let tests = realpath("/proc/self/exe", nil)
        defer { free(tests) }
        let path = tests.map { String(cString: $0) } ?? ""
        return path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex) + "/reachability"
    }()

    static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProcess {
        try RunningProcess([path] + arguments, environment: environment)
    }

    static func run(_ arguments: String...) async throws -> Ended {
        try await start(arguments).end()
    }
}

extension Namespace {
    /// Starts the tool.
    func start(
        _ arguments: String..., environment: [String: String] = [:], output: Int32? = nil
    ) throws -> RunningProcess {
        try start([Tool.path] + arguments, environment: environment, output: output)
    }

    /// Starts `reachability watch`, which shows the board on the terminal.
    func startBoard(_ arguments: String..., on terminal: Terminal) throws -> RunningProcess {
        try start([Tool.path, "watch"] + arguments, environment: ["TERM": "xterm"], output: terminal.screen)
    }

    func run(_ arguments: String...) async throws -> Ended {
        try await start([Tool.path] + arguments).end()
    }
}
#else
import Testing

/// The tool needs a trait, which adds its argument parser. Its tests are not compiled without it: that takes a while.
@Suite("The tool")
struct ToolTests {
    @Test("The tool", .disabled("the tool was not built: swift test --traits Tool"))
    func isBuilt() {}
}
#endif
