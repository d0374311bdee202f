// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import CReachability
import Glibc
import NetworkReachability
import ReachabilityConnections
import ReachabilityInternals

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

/// A connection, its target, and the verdict about it.
final class JudgedConnection {
    var connection: Connection
    private(set) var path: ReachabilityPath
    var verdict: ConnectionVerdict { ConnectionVerdict(path) }
    /// That of the last line about it.
    var printed: ConnectionVerdict?
    /// The path may be another one since it was read.
    private(set) var isStale = true

    private let target: SCNetworkReachability
    private var runLoop: SCRunLoop?

    init(_ connection: Connection, notifies: Bool) throws(ToolError) {
        guard let target = connection.target(notifies: notifies) else {
            throw ToolError(of: "\(connection.key.local) -> \(connection.key.remote)")
        }
        self.connection = connection
        self.target = target
        path = .unreachable()
        if !notifies { try judge() }
    }

    deinit {
        guard let runLoop else { return }
        _ = __SCNetworkReachabilitySetCallback(target, nil, nil)
        _ = __SCNetworkReachabilityUnscheduleFromRunLoop(target, runLoop, kSCRunLoopDefaultMode)
    }

    /// Reads the path: of a scheduled target, that of the last evaluation.
    func judge() throws(ToolError) {
        var path = SCNetworkReachabilityPath()
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        guard SCNetworkReachabilityGetLastPath(target, &path) else {
            throw ToolError(of: "\(connection.key.local) -> \(connection.key.remote)")
        }
        self.path = ReachabilityPath(path)
        isStale = false
    }

    func schedule(on runLoop: SCRunLoop) throws(ToolError) {
        var context = CNetworkReachabilityContext()
        // Unretained: deinit removes the callback, on the thread that delivers.
        context.info = CallbackInfo.pointer(to: self)
        guard
            __SCNetworkReachabilitySetCallback(
                target,
                { _, _, info in
                    guard let info else { return }
                    CallbackInfo.object(JudgedConnection.self, at: info).isStale = true
                },
                &context
            ),
            __SCNetworkReachabilityScheduleWithRunLoop(target, runLoop, kSCRunLoopDefaultMode)
        else { throw ToolError(of: "\(connection.key.local) -> \(connection.key.remote)") }
        self.runLoop = runLoop
    }
}

/// The work of `connections --watch`: prints the connections that are wrong, and every change.
struct ConnectionWatching {
    let printer: ConnectionPrinter

    /// The kernel announces no new connection: the list is read this often.
    private static let pause = Duration.seconds(1)

    /// Returns at the deadline, on SIGINT and SIGTERM, or when the reader is gone.
    func run(until deadline: ContinuousClock.Instant?) throws(ToolError) {
        let loop = try EventLoop(signals: [SIGINT, SIGTERM], watchesReader: true)
        var known: [Connection.Key: JudgedConnection] = [:]
        var due = ContinuousClock.now

        while true {
            if due <= .now {
                try update(&known, loop)
                due = .now + ConnectionWatching.pause
            }
            try printChanges(known)
            switch try loop.next(until: deadline.map { min($0, due) } ?? due) {
            case .timeout where deadline.map { $0 <= .now } ?? false: return
            case .readerGone, .signals: return
            case .timeout, .targets, .keys: break
            }
        }
    }

    private func update(_ known: inout [Connection.Key: JudgedConnection], _ loop: EventLoop) throws(ToolError) {
        var current: [Connection.Key: JudgedConnection] = [:]
        for connection in try Connection.all() {
            let judged: JudgedConnection
            if let before = known[connection.key] {
                judged = before
                judged.connection = connection
            } else {
                judged = try JudgedConnection(connection, notifies: true)
                try judged.schedule(on: loop.runLoop)
            }
            current[connection.key] = judged
        }
        known = current
        try loop.perform()
    }

    /// A connection that is viable is printed if its last line said something else.
    private func printChanges(_ known: [Connection.Key: JudgedConnection]) throws(ToolError) {
        var changed: [JudgedConnection] = []
        for connection in known.values where connection.isStale {
            try connection.judge()
            let isNews = connection.verdict != connection.printed
            let isShown = printer.printsAll || connection.verdict != .viable || connection.printed != nil
            if isNews && isShown { changed.append(connection) }
            if isNews && isShown { connection.printed = connection.verdict }
        }
        try printer.printEach(changed)
    }
}
#endif
