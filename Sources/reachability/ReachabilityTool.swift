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
        discussion: """
            Reachable means that a packet addressed to the target can leave this machine now. It never means that the \
            target responds.

            A TARGET is an address, a name, or LOCAL,REMOTE: two addresses, of which one may be left out.

            -r TARGET and -W -r TARGET print what Apple's scutil prints.
            """,
        version: String(cString: SCNetworkReachabilityGetVersion()),
        subcommands: [CheckCommand.self, WatchCommand.self, WaitCommand.self, ScutilCommand.self],
        defaultSubcommand: ScutilCommand.self
    )

    static func main() {
        StandardDescriptors.open()
        main(nil)
    }
}
#else
/// Packages that use the libraries build this target, too. They should not need to download the argument parser for it.
@main
enum ReachabilityTool {
    static func main() {
        StandardError.write(
            "this is not the tool: it was built without the trait Tool. Build it with: swift build --traits Tool")
        exit(ExitStatus.unusable)
    }
}
#endif
