// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("watch --textfile", .namespace, .limited)
final class TextfileTests {
    private let folder: String
    private var path: String { folder + "/reachability.prom" }

    init() throws {
        var template = Array("/tmp/reachability-XXXXXX".utf8CString)
        folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Waits until the file has a line.
    private func until(line: String) async throws -> [Substring] {
        var lines: [Substring] = []
        try await waitUntil {
            lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.contains(Substring(line))
        }
        return lines
    }

    private func value(_ name: String, in lines: [Substring]) throws -> Double {
        let line = try #require(lines.first { $0.hasPrefix(name + "{") }, "\(name)")
        return try #require(line.split(separator: " ").last.flatMap { Double($0) })
    }

    @Test("The file has the state, the reason, the changes and the time of each target")
    func metrics() async throws {
        let namespace = try await Namespace(.subnet)
        let start = ContinuousClock.now
        let watching = try namespace.start("watch", "--textfile", path, "192.0.2.1", "10.0.0.9")
        let first = try await until(line: #"reachability_reachable{target="192.0.2.1"} 0"#)
        #expect(first.contains(#"reachability_reachable{target="10.0.0.9"} 1"#))
        #expect(first.contains(#"reachability_reason{target="192.0.2.1",reason="noRoute"} 1"#))
        #expect(first.contains(#"reachability_changes_total{target="192.0.2.1"} 0"#))
        #expect(!first.contains { $0.hasPrefix(#"reachability_reason{target="10.0.0.9""#) })
        for (name, type) in [("reachable", "gauge"), ("reason", "gauge"), ("changes_total", "counter")] {
            #expect(first.contains("# TYPE reachability_\(name) \(type)"))
        }
        try await namespace.ip("route add default via 10.0.0.1")
        let second = try await until(line: #"reachability_changes_total{target="192.0.2.1"} 1"#)
        #expect(second.contains(#"reachability_reachable{target="192.0.2.1"} 1"#))
        #expect(!second.contains { $0.hasPrefix("reachability_reason{") })
        let seconds = try value("reachability_unreachable_seconds_total", in: second)
        #expect(seconds > 0 && .seconds(seconds) <= start.duration(to: .now))
        #expect(second.contains(#"reachability_unreachable_seconds_total{target="10.0.0.9"} 0.000"#))
        try await watching.stop()
        // The temporary file became this one. Others may read it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["reachability.prom"])
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o044 == 0o044)
    }

    @Test("A link to another file where the temporary file might be changes nothing")
    func link() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", "--textfile", path, "192.0.2.1")
        _ = try await until(line: #"reachability_changes_total{target="192.0.2.1"} 0"#)
        let other = folder + "/other"
        try "mine".write(toFile: other, atomically: false, encoding: .utf8)
        try FileManager.default.linkItem(atPath: other, toPath: "\(path).\(watching.identifier)")
        try await namespace.ip("route delete default")
        _ = try await until(line: #"reachability_changes_total{target="192.0.2.1"} 1"#)
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
        try await watching.stop()
    }

    @Test("Without a change the file is written again, and the time grows")
    func interval() async throws {
        let watching = try await Namespace(.subnet).start("watch", "--quiet", "--textfile", path, "192.0.2.1")
        // It prints the file again when a new one replaces it.
        let file = try RunningProcess(["tail", "--lines=+1", "--follow=name", "--retry", path])
        var values: [Double] = []
        while values.count < 2 {
            let line = try await file.nextLine()
            guard line.hasPrefix("reachability_unreachable_seconds_total{") else { continue }
            values.append(try value("reachability_unreachable_seconds_total", in: [Substring(line)]))
        }
        #expect(values[1] >= values[0] + 14)
        watching.send(SIGTERM)
        let ended = try await watching.end()
        #expect(ended.status == 0 && ended.output == "")
    }

    @Test("A pending name has no reachable, and its label is escaped")
    func labels() async throws {
        let namespace = try await Namespace("link set lo up")
        let target = "fe80::1%a\"\\"
        let watching = try namespace.start("watch", "--textfile", path, "--timeout", "0", target, target)
        #expect(try await watching.end().status == 0)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let sample = #"reachability_reason{target="fe80::1%a\"\\",reason="interfaceMissing"} 1"#
        #expect(lines.count { $0 == sample } == 1)

        let pending = try namespace.start("watch", "--textfile", path, "--timeout", "0", "host.invalid")
        #expect(try await pending.end().status == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        if text.contains("namePending") { #expect(!text.contains("reachability_reachable{")) }
    }

    @Test("A file that cannot be written exits with 74")
    func noFolder() async throws {
        let ended = try await Tool.run("watch", "--textfile", folder + "/none/a.prom", "127.0.0.1")
        #expect(ended.status == 74)
        #expect(ended.errors.hasSuffix("/none/a.prom: No such file or directory\n"))
    }

    @Test("A write that fails later is reported, and the next one can succeed")
    func laterFailure() async throws {
        let namespace = try await Namespace(.gateway)
        let watching = try namespace.start("watch", "--textfile", path, "192.0.2.1")
        _ = try await watching.nextLine()
        _ = try await until(line: #"reachability_changes_total{target="192.0.2.1"} 0"#)
        try FileManager.default.removeItem(atPath: folder)
        try await namespace.ip("route delete default")
        _ = try await watching.nextLine()
        try await namespace.ip("route replace default via 10.0.0.3")
        _ = try await watching.nextLine()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try await namespace.ip("route delete default")
        _ = try await until(line: #"reachability_changes_total{target="192.0.2.1"} 3"#)
        watching.send(SIGTERM)
        let ended = try await watching.end()
        #expect(ended.status == 0)
        #expect(ended.errors == "reachability: \(path): No such file or directory\n")
    }
}
#endif
