// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import CReachability
import NetworkReachability

/// The output of Apple's scutil. Scripts parse it, so every word and every blank is the same.
struct ScutilCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Print what Apple's scutil -r and scutil -W -r print."
    )

    @Option(name: .customShort("r"), help: ArgumentHelp("Print the flags of this target.", valueName: "target"))
    var target: String

    @Flag(name: .customShort("W"), help: "Keep running, and print every change.")
    var watches = false

    @Option(help: ArgumentHelp("Without -W: how long to wait until a name is looked up.", valueName: "duration"))
    var timeout = TimeSpan(seconds: 5)

    /// No other command has one of these options.
    static func isMeant(by arguments: [String]) -> Bool {
        guard arguments.first?.hasPrefix("-") == true else { return false }
        return arguments.prefix { $0 != "--" }.contains { $0.hasPrefix("-r") || $0.hasPrefix("-W") }
    }

    func run() throws {
        try reporting {
            if watches {
                try watch(target)
            } else {
                try StandardOutput.writeLine("\(try determined { () throws(ToolError) in try flags(of: target) })")
            }
        }
    }

    /// A name that is still pending has no flags, as in Apple's tool.
    private func flags(of text: String) throws(ToolError) -> ReachabilityFlags {
        var flags: ReachabilityFlags = []
        let target = try Target(text)
        try reportFirstStates(of: [.success(target)], until: timeout.fromNow) { _, result throws(ToolError) in
            let state = try result.get()
            if state.status != .pending { flags = state.path.flags }
        }
        return flags
    }

    /// Reports a failure in the words of Apple's tool.
    private func determined<Result>(_ body: () throws(ToolError) -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            StandardError.writeLine("  Could not determine status: \(String(cString: SCErrorString(error.status)))")
            throw ExitCode(ExitStatus.unmet)
        }
    }

    private func watch(_ text: String) throws {
        let direct = try determined { () throws(ToolError) in try Target(text) }
        try StandardOutput.writeLine(" 0: direct")
        try print(direct, indent: 3, flags: try determined(direct.flags))

        let target = try determined { () throws(ToolError) in try Target(text) }
        try StandardOutput.writeLine(" 1: start")
        try print(target, indent: 3, flags: nil)

        let loop = try EventLoop(watchesReader: true)
        var count = 3
        var failure: (any Error)?
        target.onChange = { flags in
            do {
                let number = count < 10 ? " \(count)" : "\(count)"
                let value = padded(Int(flags.rawValue), to: 8, radix: 16)
                count += 1
                try StandardOutput.writeLine("\n*** \(LocalTime.now.timeOfDay)\n")
                try StandardOutput.writeLine(
                    "\(number): callback w/flags=0x\(value) (info=\"\(target.kind.rawValue)\")")
                try print(target, indent: 4, flags: flags)
                try StandardOutput.writeLine("")
            } catch { failure = error }
        }
        try determined { () throws(ToolError) in try target.schedule(on: loop.runLoop) }
        try StandardOutput.writeLine(" 2: on runloop")
        try print(target, indent: 3, flags: try determined(target.flags))
        while try loop.next() != .readerGone {
            if let failure { throw failure }
        }
    }

    private func print(_ target: Target, indent: Int, flags: ReachabilityFlags?) throws {
        let description = target.description.prefix { $0 != "\n" }
        try StandardOutput.writeLine(String(repeating: " ", count: indent) + description)
        if let flags { try StandardOutput.writeLine("\(flags)") }
    }
}
#endif
