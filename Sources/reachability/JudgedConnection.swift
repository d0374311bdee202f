// SPDX-License-Identifier: MIT

#if Tool
import CReachability
import Glibc
import NetworkReachability

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
        context.info = Unmanaged.passUnretained(self).toOpaque()
        guard
            __SCNetworkReachabilitySetCallback(
                target,
                { _, _, info in
                    guard let info else { return }
                    Unmanaged<JudgedConnection>.fromOpaque(info).takeUnretainedValue().isStale = true
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
