// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import Glibc
import ReachabilityConnections

struct ConnectionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connections",
        abstract: "Print the established TCP connections of this machine whose packets cannot leave, or leave wrongly.",
        discussion: """
            The connections are those of all users in this network namespace. The first of these that applies is \
            printed: source gone, a reason why no packet can leave, foreign source, next hop failed, better path, \
            viable. It says nothing about the other end. Exits with 0 if all are viable, otherwise with 1; with 77 if \
            the connections may not be listed.
            """
    )

    @Flag(help: "Print all connections, also those that are viable.")
    var all = false

    @Flag(help: "Print every change, until interrupted.")
    var watch = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The connections of this network namespace: a name as of ip-netns(8), or a path.",
            valueName: "namespace"),
        completion: .shellCommand("ls /run/netns 2>/dev/null"))
    var netns: String?

    @Option(help: ArgumentHelp("With --watch: exit after this time.", valueName: "duration"))
    var timeout: TimeSpan?

    func validate() throws {
        if timeout != nil && !watch { throw ValidationError("--timeout is for --watch.") }
    }

    func run() throws {
        do {
            if let netns { try enterNetworkNamespace(netns) }
            let printer = ConnectionPrinter(printsAll: all, isJSON: json, hasTime: watch)
            if watch {
                try ConnectionWatching(printer: printer).run(until: timeout?.fromNow)
                return
            }
            let connections = try Connection.all().map { try JudgedConnection($0, notifies: false) }
            try printer.print(connections)
            if connections.contains(where: { $0.verdict != .viable }) { throw ExitCode(ExitStatus.unmet) }
        } catch let failure as ToolError {
            StandardError.write(failure.message.escaped)
            throw ExitCode(failure.exitStatus)
        }
    }
}

/// Prints lines of connections.
struct ConnectionPrinter {
    let printsAll: Bool
    let isJSON: Bool
    let hasTime: Bool

    /// Those that are wrong, or all.
    func print(_ connections: [JudgedConnection]) throws(ToolError) {
        try printEach(printsAll ? connections : connections.filter { $0.verdict != .viable })
    }

    /// The processes are looked up only for connections that are printed.
    func printEach(_ connections: [JudgedConnection]) throws(ToolError) {
        guard !connections.isEmpty else { return }
        let owners = SocketOwners.all()
        let isMarkDecisive = connections.contains { $0.connection.mark == nil } ? try rulesSelectByMark() : false
        for connection in connections {
            let record = ConnectionRecord(
                connection: connection.connection, path: connection.path, verdict: connection.verdict,
                owner: owners.owner(of: connection.connection.key.inode),
                isAsIfUnmarked: isMarkDecisive && connection.connection.mark == nil, time: LocalTime.universalText)
            let time = hasTime ? "\(LocalTime.now.text)  " : ""
            try StandardOutput.writeLine(isJSON ? try jsonLine(record, of: "connections") : time + record.line)
        }
    }

    private func rulesSelectByMark() throws(ToolError) -> Bool {
        var select = false
        let error = reachability_rules_select_by_mark(&select)
        if error != 0 { throw ToolError(of: "policy rules", status: error) }
        return select
    }
}
#endif
