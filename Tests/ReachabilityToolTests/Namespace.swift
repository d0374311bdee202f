// SPDX-License-Identifier: MIT

import Glibc
import Testing

/// A network namespace of a test's own, with nothing in it but a lo that is down. It ends with this object, which
/// the processes inside hold, and with the test process.
final class Namespace {
    private let holder: RunningProcess
    /// What goes before a command that is to run inside.
    let entry: [String]

    private static let kinds = [
        (unshare: ["unshare", "--net"], enter: ["--net"]),
        (
            unshare: ["unshare", "--net", "--user", "--map-root-user"],
            enter: ["--net", "--user", "--preserve-credentials"]
        ),
    ]

    /// How this machine lets us make one, as root or not.
    private static let kind = kinds.first { kind in
        let probe = "ip link add probe0 type veth peer name probe1"
        return system("\(kind.unshare.joined(separator: " ")) sh -c '\(probe)' >/dev/null 2>&1") == 0
    }

    static var isAllowed: Bool { kind != nil }

    init(_ commands: String = "") async throws {
        let kind = try #require(Namespace.kind)
        holder = try RunningProcess(kind.unshare + ["sh", "-c", "echo ready && exec cat"], input: .open)
        entry = ["nsenter", "--target", "\(holder.identifier)"] + kind.enter
        #expect(try await holder.nextLine() == "ready")
        if !commands.isEmpty { try await ip(commands) }
        if commands.contains(" e0 ") { try await untilRunning("e0") }
    }

    /// The kernel tells of a carrier a little after the command that brought it.
    private func untilRunning(_ interface: String) async throws {
        var state = ""
        while !state.contains("state UP") {
            try Task.checkCancellation()
            state = try await RunningProcess(["ip", "-oneline", "link", "show", interface], in: self).end().output
        }
    }

    /// Runs ip(8) commands, a line each.
    func ip(_ commands: String, _ location: SourceLocation = #_sourceLocation) async throws {
        let process = try RunningProcess(["ip", "-batch", "-"], input: .text(commands + "\n"), in: self)
        let ended = try await process.end(location)
        try #require(ended.status == 0, "\(commands): \(ended.errors)", sourceLocation: location)
    }

    func start(
        _ command: [String], environment: [String: String] = [:], output: Int32? = nil
    ) throws -> RunningProcess {
        try RunningProcess(command, environment: environment, output: output, in: self)
    }

    /// Starts the tool.
    func start(
        _ arguments: String..., environment: [String: String] = [:], output: Int32? = nil
    ) throws -> RunningProcess {
        try start([Tool.path] + arguments, environment: environment, output: output)
    }

    func run(_ arguments: String...) async throws -> Ended {
        try await start([Tool.path] + arguments).end()
    }

    /// Waits until a process in here listens to the kernel's events: changes made from then on are changes to it.
    func untilWatched(_ location: SourceLocation = #_sourceLocation) async throws {
        while try !isWatched() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func isWatched() throws -> Bool {
        // sk Eth Pid Groups ...: nobody else in here joins groups.
        try lines(ofFile: "/proc/\(holder.identifier)/net/netlink").dropFirst().contains {
            UInt64($0.split(separator: " ")[3], radix: 16) != 0
        }
    }
}

private func lines(ofFile path: String) throws -> [Substring] {
    let file = try #require(fopen(path, "re"))
    defer { fclose(file) }
    var text: [UInt8] = []
    while case let byte = getc(file), byte != EOF { text.append(UInt8(byte)) }
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
}

extension String {
    /// e0 with a carrier and a subnet, and no other route; its peer e1 is in the same namespace.
    static let subnet = """
        link set lo up
        link add e0 type veth peer name e1
        address add 10.0.0.2/24 dev e0
        link set e1 up
        link set e0 up
        """

    /// ... and a gateway.
    static let gateway = subnet + "\nroute add default via 10.0.0.1"
}

extension Trait where Self == ConditionTrait {
    static var namespace: Self {
        .enabled(if: Namespace.isAllowed, "network namespaces with veth pairs cannot be made here")
    }
}
