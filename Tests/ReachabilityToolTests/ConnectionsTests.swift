// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import Glibc
import TestSupport
import Testing

/// Opens TCP connections to the address inside a namespace and keeps them. With a third argument, their sockets are bound to
/// that interface after that.
private let server = """
    import socket, sys, resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
    address, count = sys.argv[1], int(sys.argv[2])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family)
    listener.bind((address, 0))
    listener.listen(1024)
    kept = []
    for i in range(count):
        client = socket.create_connection(listener.getsockname()[:2])
        kept += [client, listener.accept()[0]]
    for connection in kept:
        for interface in sys.argv[3:]:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    print("ready", flush=True)
    sys.stdin.read()
    """

@Suite("reachability connections", .namespace, .limited)
struct ConnectionsTests {
    /// Ends with the object that it returns.
    private func connect(
        _ namespace: Namespace, _ address: String, _ count: Int = 1, over interface: String? = nil
    ) async throws -> RunningProcess {
        let process = try RunningProcess(
            ["python3", "-c", server, address, "\(count)"] + (interface.map { [$0] } ?? []), input: .open, in: namespace
        )
        #expect(try await process.nextLine() == "ready")
        return process
    }

    /// A connection to an own address is like one to another machine once the address is gone.
    private static let network: String =
        .gateway + """

            link set lo up
            address add 192.0.2.9/24 dev e0
            address add 2001:db8::9/64 dev e0 nodad
            """

    @Test("Connections whose packets can leave are viable, and only --all prints them")
    func viable() async throws {
        let namespace = try await Namespace(ConnectionsTests.network)
        let connected = try await connect(namespace, "192.0.2.9")
        let ended = try await namespace.run("connections")
        #expect(ended.status == 0 && ended.output == "" && ended.errors == "")
        let all = try await namespace.run("connections", "--all")
        let lines = all.output.split(separator: "\n")
        #expect(all.status == 0 && lines.count == 2)
        #expect(
            lines.allSatisfy { $0.hasPrefix("192.0.2.9:") && $0.contains("  viable  ") && $0.contains("  python3[") })
        withExtendedLifetime(connected) {}
    }

    @Test("A connection whose address is gone says so, with its process", arguments: ["192.0.2.9", "2001:db8::9"])
    func sourceGone(address: String) async throws {
        let namespace = try await Namespace(ConnectionsTests.network)
        let connected = try await connect(namespace, address)
        try await namespace.ip("address delete \(address)/\(address.contains(":") ? 64 : 24) dev e0")
        let ended = try await namespace.run("connections")
        #expect(ended.status == 1)
        #expect(ended.output.split(separator: "\n").count == 2)
        #expect(ended.output.split(separator: "\n").allSatisfy { $0.contains("  source gone  ") })
        let json = try await namespace.run("connections", "--json")
        let line = try #require(json.output.split(separator: "\n").first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["verdict"] as? String == "sourceGone")
        #expect(object["reason"] as? String == "localAddressNotAssigned")
        #expect(object["local"] as? String == address && object["remote"] as? String == address)
        #expect((object["process"] as? [String: Any])?["name"] as? String == "python3")
        withExtendedLifetime(connected) {}
    }

    @Test("A connection that is bound to a deleted interface is lost, also if another one has the name")
    func boundToADeletedInterface() async throws {
        let namespace = try await Namespace(ConnectionsTests.network + "\nlink add v0 type veth peer name v1")
        let connected = try await connect(namespace, "192.0.2.9", over: "v0")
        try await namespace.ip("link delete v0")
        try await namespace.ip("link add v0 type veth peer name v1")
        let ended = try await namespace.run("connections")
        #expect(ended.status == 1)
        #expect(ended.output.split(separator: "\n").count == 2)
        #expect(ended.output.split(separator: "\n").allSatisfy { $0.contains("  interface missing  ") })
        withExtendedLifetime(connected) {}
    }

    @Test("--watch prints a connection when it becomes wrong, and when it is viable again")
    func watch() async throws {
        let namespace = try await Namespace(ConnectionsTests.network)
        let connected = try await connect(namespace, "192.0.2.9")
        let watch = try namespace.start([Tool.path, "connections", "--watch"])
        try await namespace.ip("address delete 192.0.2.9/24 dev e0")
        for _ in 0..<2 { #expect(try await watch.nextLine().contains("  source gone")) }
        try await namespace.ip("address add 192.0.2.9/24 dev e0")
        for _ in 0..<2 { #expect(try await watch.nextLine().contains("  viable")) }
        withExtendedLifetime(connected) {}
    }

    @Test("The list is that of ss, with 5,000 connections")
    func many() async throws {
        let namespace = try await Namespace(ConnectionsTests.network)
        let connected = try await connect(namespace, "192.0.2.9", 2500)
        let clock = ContinuousClock()
        var mine = "", theirs = ""
        let time = try await clock.measure { mine = try await namespace.run("connections", "--all").output }
        let reference = try await clock.measure {
            theirs = try await namespace.start(["ss", "-Htn", "state", "established"]).end().output
        }
        let expected = Set(
            theirs.split(separator: "\n").map { $0.split(separator: " ").suffix(2).joined(separator: " -> ") })
        let found = Set(mine.split(separator: "\n").map { $0.prefix { $0 != "\t" }.components(separatedBy: "  ")[0] })
        #expect(expected.count == 5000 && found == expected)
        print("connections: \(time), ss: \(reference)")
        withExtendedLifetime(connected) {}
    }

    @Test("Marked connections are as if unmarked for who may not know marks, if a rule selects by mark")
    func marks() async throws {
        let namespace = try await Namespace(ConnectionsTests.network)
        let connected = try await connect(namespace, "192.0.2.9")
        let unprivileged = [
            "setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--reuid=65534",
            "--clear-groups",
        ]
        let plain = try await namespace.start(unprivileged + [Tool.path, "connections", "--all"]).end()
        #expect(plain.status == 0 && !plain.output.contains("as if unmarked"))
        try await namespace.ip("rule add fwmark 7 prohibit")
        let marked = try await namespace.start(unprivileged + [Tool.path, "connections", "--all"]).end()
        #expect(marked.output.contains("  as if unmarked"))
        withExtendedLifetime(connected) {}
    }
}
#endif
