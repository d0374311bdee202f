// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import TestSupport
import Testing

@Suite("The addresses of a name", .namespace, .limited)
struct AddressesTests {
    private static let one = "192.0.2.10 wg.test\n"
    private static let other = "192.0.2.11 wg.test\n"
    private static let both = other + "192.0.2.12 wg.test\n"

    /// The records until the name is looked up, the last one first. The first one may be pending or not.
    private func firstRecords(of process: RunningProcess) async throws -> [JSONLine] {
        var records = [try await JSONLine(process.nextLine())]
        while records[0].status == "pending" { records.insert(try await JSONLine(process.nextLine()), at: 0) }
        return records
    }

    @Test("A line has the address that is used; an added address is no line")
    func text() async throws {
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: Self.one)
        let watching = try folder.start(in: namespace, "watch", "wg.test")
        func line(to address: String) -> String {
            "wg.test  Reachable  to \(address)  dev e0  via 10.0.0.1  src 10.0.0.2"
        }
        while try await !watching.nextLine().hasSuffix(line(to: "192.0.2.10")) {}
        try folder.replace(hosts: Self.other)
        #expect(try await watching.nextLine().hasSuffix(line(to: "192.0.2.11")))
        let programs = try folder.start(in: namespace, "watch", "--json", "wg.test")
        _ = try await firstRecords(of: programs)
        try folder.replace(hosts: Self.both)
        #expect(try await JSONLine(programs.nextLine()).addresses.count == 2)
        try folder.replace(hosts: "192.0.2.13 wg.test\n")
        #expect(try await watching.nextLine().hasSuffix(line(to: "192.0.2.13")))
    }

    @Test("With --format tsv, the address that is used is the last value")
    func values() async throws {
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: Self.one)
        let ended = try await folder.start(in: namespace, "check", "--format", "tsv", "wg.test", "default").end()
        let lines = ended.output.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(lines.map(\.count) == [9, 9] && lines.map(\.last) == ["192.0.2.10", "-"])
    }

    @Test("With --json, a changed and an added address are lines; another order is none")
    func json() async throws {
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: Self.one)
        let watching = try folder.start(in: namespace, "watch", "--json", "wg.test")
        var line = try await firstRecords(of: watching)[0]
        #expect(line.addresses == ["192.0.2.10"] && line.destination == "192.0.2.10")
        try folder.replace(hosts: Self.other)
        line = try await JSONLine(watching.nextLine())
        #expect(line.addresses == ["192.0.2.11"] && line.destination == "192.0.2.11")
        try folder.replace(hosts: Self.both)
        line = try await JSONLine(watching.nextLine())
        #expect(Set(line.addresses) == ["192.0.2.11", "192.0.2.12"])
        try folder.replace(hosts: "127.0.0.1 localhost\n")
        line = try await JSONLine(watching.nextLine())
        #expect(line.addresses == [] && line.destination == nil && line.reason == "nameNotFound")
    }

    @Test("A record is of one moment: a pending name has no addresses, and others have the one that is used")
    func oneMoment() async throws {
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: Self.both)
        for _ in 0..<40 {
            let watching = try folder.start(in: namespace, "watch", "--json", "wg.test")
            for line in try await firstRecords(of: watching) {
                #expect((line.status == "pending") == (line.addresses == []))
                #expect(line.destination.map { line.addresses.contains($0) } ?? (line.status == "pending"))
            }
        }
    }

    @Test("A command runs when an address changes, and when one is added")
    func command() async throws {
        let namespace = try await Namespace(.gateway)
        let folder = try HostsFolder(hosts: Self.one)
        let watching = try folder.start(
            in: namespace, "watch", "--quiet", "wg.test", "--exec-initial", "--exec",
            "echo \"$REACHABILITY_STATUS|$REACHABILITY_DESTINATION|$REACHABILITY_ADDRESSES\"")
        while try await watching.nextLine() != "reachable|192.0.2.10|192.0.2.10" {}
        try folder.replace(hosts: Self.other)
        #expect(try await watching.nextLine() == "reachable|192.0.2.11|192.0.2.11")
        try folder.replace(hosts: Self.both)
        #expect(try await watching.nextLine().hasPrefix("reachable|192.0.2.11|192.0.2.1"))
        try folder.replace(hosts: "127.0.0.1 localhost\n")
        #expect(try await watching.nextLine() == "unreachable||")
    }
}
#endif
