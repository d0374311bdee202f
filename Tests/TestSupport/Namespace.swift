// SPDX-License-Identifier: MIT

internal import Glibc
package import Testing

/// A new network namespace. It contains only lo, which is down. It ends with this object, which the processes inside
/// keep, and with the test process.
package final class Namespace: Sendable {
    /// Keeps the namespace alive. A constant that is not used after `init`, so no lock is needed.
    private nonisolated(unsafe) let holder: RunningProcess
    private let path: String
    /// The words before a command that runs inside.
    package let entry: [String]

    private static let kinds = [
        (unshare: ["unshare", "--net"], enter: ["--net"]),
        (
            unshare: ["unshare", "--net", "--user", "--map-root-user"],
            enter: ["--net", "--user", "--preserve-credentials"]
        ),
    ]

    /// The first kind that this process may make, as root or not.
    private static let kind = kinds.first { kind in
        let probe = "ip link add probe0 type veth peer name probe1"
        return system("\(kind.unshare.joined(separator: " ")) sh -c '\(probe)' >/dev/null 2>&1") == 0
    }

    package static var canMake: Bool { kind != nil }

    /// Whether a thread of this process may enter a namespace and return.
    package static var canEnter: Bool { kind?.enter == kinds[0].enter }

    package init(_ commands: String = "") async throws {
        let kind = try #require(Namespace.kind)
        holder = try RunningProcess(kind.unshare + ["sh", "-c", "echo ready && exec cat"], input: .open)
        path = "/proc/\(holder.identifier)"
        entry = ["nsenter", "--target", "\(holder.identifier)"] + kind.enter
        #expect(try await holder.nextLine() == "ready")
        if !commands.isEmpty { try await ip(commands) }
        for interface in ["e0", "e2"] where commands.contains(" \(interface) ") {
            try await waitForCarrier(of: interface)
        }
    }

    /// The kernel reports the carrier a little after the command that sets the interface up.
    private func waitForCarrier(of interface: String) async throws {
        var state = ""
        while !state.contains("state UP") {
            try Task.checkCancellation()
            state = try await RunningProcess(["ip", "-oneline", "link", "show", interface], in: self).end().output
        }
    }

    /// Runs ip(8) commands, one on each line.
    package func ip(_ commands: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let process = try RunningProcess(["ip", "-batch", "-"], input: .text(commands + "\n"), in: self)
        let ended = try await process.end(location)
        try #require(ended.status == 0, "\(commands): \(ended.errors)", sourceLocation: location)
    }

    /// Adds and deletes the default route as fast as possible, until the returned process ends. For a namespace with
    /// `.subnet`.
    package func flapDefaultRoute() throws -> RunningProcess {
        let changes = #"yes $'route add default via 10.0.0.1\nroute delete default' | head -n 20000"#
        // 20000 lines for each ip(8), as it leaks memory with each line, and should end soon after the shell.
        return try start(["bash", "-c", "while :; do ip -force -batch <(\(changes)) 2>/dev/null; done"])
    }

    package func start(
        _ command: [String], environment: [String: String] = [:], output: Int32? = nil
    ) throws -> RunningProcess {
        try RunningProcess(command, environment: environment, output: output, in: self)
    }

    /// Runs `body` inside, on the calling thread. Targets that it makes belong to this namespace. For tests with
    /// `.namespaceInside`.
    package func inside<Result>(
        _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Result
    ) throws -> Result {
        let outside = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        let inside = open("\(path)/ns/net", O_RDONLY | O_CLOEXEC)
        defer { for descriptor in [outside, inside] { close(descriptor) } }
        try #require(setns(inside, newNetwork) == 0, sourceLocation: location)
        defer { #expect(setns(outside, newNetwork) == 0, sourceLocation: location) }
        return try body()
    }

    /// Waits until a netlink socket in this namespace has joined multicast groups, or until none has.
    package func until(isWatched: Bool) async throws {
        try await waitUntil { try (self.watches() > 0) == isWatched }
    }

    /// The number of netlink sockets in this namespace that have joined multicast groups.
    package func watches() throws -> Int {
        // The columns: sk Eth Pid Groups ... A socket only for queries has the groups of links and of rules, and no other.
        try lines(ofFile: "\(path)/net/netlink").dropFirst().count {
            UInt64($0.split(separator: " ")[3], radix: 16).map { $0 != 0 && $0 != 0x40081 } ?? false
        }
    }
}

/// Declared here, because Glibc's header hides it from Swift.
@_silgen_name("setns")
private func setns(_ descriptor: Int32, _ kind: Int32) -> Int32
/// CLONE_NEWNET.
private let newNetwork: Int32 = 0x4000_0000

func lines(ofFile path: String) throws -> [Substring] {
    let file = try #require(fopen(path, "re"))
    defer { fclose(file) }
    var text: [UInt8] = []
    while case let byte = getc(file), byte != EOF { text.append(UInt8(byte)) }
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
}

extension String {
    /// A default route over lo, which always has a carrier.
    package static let loopback = "link set lo up\nroute add default dev lo"

    /// e0 with a carrier and a subnet, and no other route. Its peer e1 is in the same namespace.
    package static let subnet = """
        link set lo up
        link add e0 type veth peer name e1
        address add 10.0.0.2/24 dev e0
        link set e1 up
        link set e0 up
        """

    /// `subnet`, and a default route over a gateway.
    package static let gateway = subnet + "\nroute add default via 10.0.0.1"

    package static let addDefault = "route add default via 10.0.0.1"
    package static let deleteDefault = "route delete default"

    /// A host outside the subnet. Packets to it take the default route.
    package static let outside = "192.0.2.1"
}

extension Trait where Self == ConditionTrait {
    package static var namespace: Self {
        .enabled(if: Namespace.canMake, "this process may not make network namespaces with veth pairs")
    }

    /// For tests that call `Namespace.inside`.
    package static var namespaceInside: Self {
        .enabled(
            if: Namespace.canEnter, "this process may not enter network namespaces: run the tests with Tests/swift")
    }
}
