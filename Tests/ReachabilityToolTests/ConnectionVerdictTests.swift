// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import TestSupport
import Testing

/// Makes established connections to these ports of a host that does not exist, and keeps them.
private let client = """
    import socket, sys
    source, remote = sys.argv[1:3]
    kept = []
    for port in sys.argv[3:]:
        connection = socket.socket(socket.AF_INET6 if ":" in remote else socket.AF_INET)
        connection.setsockopt(socket.IPPROTO_TCP, 19, 1)  # TCP_REPAIR: it sends no packet, also when it is closed
        connection.bind((source, 0))
        connection.connect((remote, int(port)))
        kept.append(connection)
    print("ready", flush=True)
    sys.stdin.read()
    """

private let sender = """
    import socket, sys
    family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", (sys.argv[1], 9))
    """

/// The addresses of a connection over e0, and what the network has for them. The gateways do not exist.
struct Ends: CustomTestStringConvertible {
    var testDescription: String
    let source, remote, remoteNetwork, gateway, betterGateway: String
    /// Of the addresses of the socket.
    var prefix = ""
    /// Of the protocol, for ip(8) and sysctl(8).
    var version: Int { remote.contains(":") ? 6 : 4 }

    static let ipv4 = Ends(
        testDescription: "IPv4", source: "10.0.0.2", remote: "198.51.100.7", remoteNetwork: "198.51.100.0/24",
        gateway: "10.0.0.1", betterGateway: "203.0.113.1")
    static let ipv6 = Ends(
        testDescription: "IPv6", source: "2001:db8:1::2", remote: "2001:db8:7::7", remoteNetwork: "2001:db8:7::/64",
        gateway: "2001:db8:1::1", betterGateway: "2001:db8:2::1")
    static let mapped: Ends = {
        var ends = ipv4
        (ends.testDescription, ends.prefix) = ("IPv4 in an IPv6 socket", "::ffff:")
        return ends
    }()
    static let all = [ipv4, ipv6, mapped]
}

@Suite("Verdicts of connections", .namespace, .limited)
struct ConnectionVerdictTests {
    /// Default routes over e0, and e2 without a route.
    private static let network: String =
        .gateway + """

            link add e2 type veth peer name e3
            address add 203.0.113.2/24 dev e2
            address add 2001:db8:1::2/64 dev e0 nodad
            address add 2001:db8:2::2/64 dev e2 nodad
            link set e3 up
            link set e2 up
            route add default via 2001:db8:1::1 dev e0
            """

    /// Established connections, which end with this object. All are viable.
    private struct Connected {
        let namespace: Namespace
        let ends: Ends
        private let process: RunningProcess

        init(_ ends: Ends, to ports: Int...) async throws {
            self.ends = ends
            namespace = try await Namespace(ConnectionVerdictTests.network)
            let addresses = [ends.source, ends.remote].map { ends.prefix + $0 }
            process = try RunningProcess(
                ["python3", "-c", client] + addresses + ports.map { "\($0)" }, input: .open, in: namespace)
            #expect(try await process.nextLine() == "ready")
            let ended = try await namespace.run("connections")
            #expect(ended.status == 0 && ended.output == "" && ended.errors == "")
        }

        func addRule(_ rule: String, _ location: SourceLocation = #_sourceLocation) async throws {
            let words = rule.split(separator: " ").map(String.init)
            let ended = try await namespace.start(["ip", "-\(ends.version)", "rule", "add"] + words).end()
            #expect(ended.status == 0, "\(rule): \(ended.errors)", sourceLocation: location)
        }

        /// The kernel gives up after one question for a gateway, and 10 ms.
        func failSoon(_ location: SourceLocation = #_sourceLocation) async throws {
            let settings = ["retrans_time_ms=10", "mcast_solicit=1"].map { "net.ipv\(ends.version).neigh.e0.\($0)" }
            let ended = try await namespace.start(["sysctl", "-qw"] + settings).end()
            #expect(ended.status == 0, "\(ended.errors)", sourceLocation: location)
        }

        /// A packet for the gateway.
        func sendPacket(_ location: SourceLocation = #_sourceLocation) async throws {
            let ended = try await namespace.start(["python3", "-c", sender, ends.remote]).end()
            #expect(ended.status == 0, "\(ended.errors)", sourceLocation: location)
        }

        /// The line of the only connection that is wrong, and its JSON object.
        func wrong(_ location: SourceLocation = #_sourceLocation) async throws -> (line: String, json: [String: Any]) {
            let text = try await namespace.run("connections"), json = try await namespace.run("connections", "--json")
            #expect(text.status == 1 && json.status == 1, sourceLocation: location)
            let lines = text.output.split(separator: "\n"), objects = json.output.split(separator: "\n")
            try #require(lines.count == 1 && objects.count == 1, sourceLocation: location)
            return (String(lines[0]), try ConnectionVerdictTests.object(String(objects[0])))
        }
    }

    private static func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test("Packets that leave over another interface have a foreign source", arguments: Ends.all)
    func foreignSource(ends: Ends) async throws {
        let connected = try await Connected(ends, to: 443)
        try await connected.namespace.ip("route add \(ends.remoteNetwork) via \(ends.betterGateway) dev e2")
        let (line, json) = try await connected.wrong()
        #expect(line.contains("  foreign source  dev e2  via \(ends.betterGateway)  python3["))
        #expect(json["verdict"] as? String == "sourceForeign")
        #expect(json["flow"] as? [String] == ["betterPath", "sourceForeign"])
        #expect(json["local"] as? String == ends.source && json["remote"] as? String == ends.remote)
        #expect(json["interface"] as? String == "e2" && json["reason"] as? String == nil)
    }

    @Test("A rule keeps the packets on their interface, and a new connection has a better path", arguments: Ends.all)
    func betterPath(ends: Ends) async throws {
        let connected = try await Connected(ends, to: 443)
        try await connected.namespace.ip("route add default via \(ends.gateway) dev e0 table 9")
        try await connected.addRule("from \(ends.source) lookup 9")
        try await connected.namespace.ip("route add \(ends.remoteNetwork) via \(ends.betterGateway) dev e2")
        let (line, json) = try await connected.wrong()
        #expect(line.contains("  better path  dev e0  via \(ends.gateway)  python3["))
        #expect(json["verdict"] as? String == "betterPath")
        #expect(json["flow"] as? [String] == ["betterPath"] && json["interface"] as? String == "e0")
    }

    @Test("Without a route, the verdict is that", arguments: Ends.all)
    func noRoute(ends: Ends) async throws {
        let connected = try await Connected(ends, to: 443)
        try await connected.namespace.ip("route delete default via \(ends.gateway) dev e0")
        let (line, json) = try await connected.wrong()
        #expect(line.contains("  no route  python3["))
        #expect(json["verdict"] as? String == "unreachable" && json["reason"] as? String == "noRoute")
    }

    @Test("A rule for one port makes only the connections to that port unreachable", arguments: Ends.all)
    func ruleByPort(ends: Ends) async throws {
        let connected = try await Connected(ends, to: 443, 444)
        try await connected.addRule("ipproto tcp dport 443 prohibit")
        let (line, json) = try await connected.wrong()
        #expect(line.contains(":443  route prohibited  "))
        #expect(json["verdict"] as? String == "unreachable" && json["reason"] as? String == "routeProhibited")
        #expect(json["remotePort"] as? Int == 443)
    }

    @Test("A gateway that has not responded is a failed next hop", arguments: Ends.all)
    func nextHopFailed(ends: Ends) async throws {
        let connected = try await Connected(ends, to: 443)
        try await connected.failSoon()
        var ended: Ended
        repeat {
            try Task.checkCancellation()
            // Each time, as the kernel may forget the gateway if there are many neighbours.
            try await connected.sendPacket()
            ended = try await connected.namespace.run("connections")
        } while ended.status == 0
        #expect(ended.status == 1)
        #expect(ended.output.contains("  next hop failed  dev e0  via \(ends.gateway)  python3["))
    }

    @Test("--watch tells when the next hop fails, and when it is there again", arguments: Ends.all)
    func watchesNextHop(ends: Ends) async throws {
        let connected = try await Connected(ends, to: 443)
        try await connected.failSoon()
        let watch = try connected.namespace.start("connections", "--watch", "--all", "--json")
        #expect(try ConnectionVerdictTests.object(await watch.nextLine())["verdict"] as? String == "viable")
        try await connected.sendPacket()
        let failed = try ConnectionVerdictTests.object(await watch.nextLine())
        #expect(failed["verdict"] as? String == "nextHopFailed" && failed["nextHop"] as? String == "failed")
        #expect(failed["gateway"] as? String == ends.gateway && failed["reason"] as? String == nil)
        let address = "lladdr 02:00:00:00:00:01 nud permanent"
        try await connected.namespace.ip("neigh replace \(ends.gateway) dev e0 \(address)")
        #expect(try ConnectionVerdictTests.object(await watch.nextLine())["verdict"] as? String == "viable")
    }
}
#endif
