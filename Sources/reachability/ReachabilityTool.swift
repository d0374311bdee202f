// SPDX-License-Identifier: MIT

import Glibc

#if Tool
import ArgumentParser
import CReachability

@main
struct ReachabilityTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Print whether a packet can leave this machine for a host, over which interface, or why not.",
        usage: """
            reachability [check] [<target> ...]
            reachability watch [<target> ...]
            reachability wait [<target> ...]
            reachability connections
            reachability [-W] -r <target>
            """,
        discussion: """
            Reachable means that a packet addressed to the target can leave this machine now. It never means that the \
            target responds.

            A TARGET is an address, a name, or LOCAL,REMOTE: two addresses, of which one may be left out. The target \
            'default', or no target, is the default path. A host of that name is 'default.'. The target '-' reads \
            targets from standard input, one a line.

            -r TARGET and -W -r TARGET print what Apple's scutil prints.

            Exit status: 0 reachable, or ended on request; 1 not reachable, or time-out; 64 wrong usage or input; \
            66 a file or a network namespace cannot be opened; 70 the kernel cannot be queried; 74 standard output or \
            a file cannot be written; 77 no right to enter a network namespace, or to list \
            connections.
            """,
        version: String(cString: SCNetworkReachabilityGetVersion()),
        subcommands: [CheckCommand.self, WatchCommand.self, WaitCommand.self, ConnectionsCommand.self],
        defaultSubcommand: CheckCommand.self
    )

    static func main() {
        StandardDescriptors.open()
        let arguments = Arguments.all
        if ScutilCommand.isMeant(by: arguments) { ScutilCommand.run(arguments) }
        if let flaw = CommandWord.flaw(in: arguments) {
            StandardError.write(flaw)
            Glibc.exit(ExitStatus.badInput)
        }
        if let command = CheckCommand.plain(arguments) { run { command } }
        run(arguments)
    }
}

extension ParsableCommand {
    /// Runs the command that the arguments name, and ends the process.
    static func run(_ arguments: [String]) -> Never { run { try parsed(arguments) } }

    static func run(_ parsed: () throws -> any ParsableCommand) -> Never {
        do {
            var command = try parsed()
            try command.run()
            Glibc.exit(0)
        } catch {
            end(with: error, status: exitCode(for: error).rawValue)
        }
    }

    private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        do {
            return try parseAsRoot(arguments)
        } catch {
            // The message repeats arguments. Parse them again without control characters.
            _ = try parseAsRoot(arguments.map(\.escaped))
            throw error
        }
    }

    /// Help that was requested goes to standard output, all else to standard error, in the style of the tool's other
    /// messages.
    private static func end(with error: any Error, status: Int32) -> Never {
        let message = fullMessage(for: error)
        if status == 0 {
            if !message.isEmpty { try? StandardOutput.writeLine(message) }
        } else if !message.isEmpty {
            let label = "Error: "
            StandardError.write(String(message.dropFirst(message.hasPrefix(label) ? label.count : 0)))
        }
        Glibc.exit(status)
    }
}
#else
/// Packages that use the libraries build this target, too. They should not need to download the argument parser for it.
@main
enum ReachabilityTool {
    static func main() {
        StandardError.write(
            "this is not the tool: it was built without the trait Tool. Build it with: swift build --traits Tool")
        exit(ExitStatus.noKernel)
    }
}
#endif
