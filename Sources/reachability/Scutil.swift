// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import CReachability

/// What scripts written for Apple's tool read: the wording and every blank are that tool's.
struct Scutil: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what Apple's scutil -r and scutil -W -r print."
    )

    @Option(name: .customShort("r"), help: ArgumentHelp("Print the flags of this target.", valueName: "target"))
    var target: String?

    @Flag(name: .customShort("W"), help: "Go on, and print every change.")
    var watches = false

    @Option(help: ArgumentHelp("Without -W, wait so long for the first answer about a name.", valueName: "seconds"))
    var timeout = Seconds(5)

    func run() throws {
        guard let target else {
            Message.write("nothing to do\n\(Command.helpMessage(columns: nil))")
            throw ExitCode.validationFailure
        }
        try reporting {
            if watches {
                try watch(target)
            } else {
                try Output.writeLine(text(of: try determined { () throws(Failure) in try flags(of: target) }))
            }
        }
    }

    /// A name that nobody has answered for has none, as it has when Apple's tool has waited in vain.
    private func flags(of text: String) throws(Failure) -> SCNetworkReachabilityFlags {
        let state = try answers(about: [try Target(text)], until: timeout.fromNow)[0]
        return state.isPending ? [] : state.flags
    }

    /// What has failed is told as Apple's tool tells it.
    private func determined<Result>(_ body: () throws(Failure) -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            Message.writeLine("  Could not determine status: \(String(cString: SCErrorString(error.status)))")
            throw ExitCode(ExitStatus.unmet)
        }
    }

    private func watch(_ text: String) throws {
        let direct = try determined { () throws(Failure) in try Target(text) }
        try Output.writeLine(" 0: direct")
        try print(direct, indent: 3, flags: try determined(direct.flags))

        let target = try determined { () throws(Failure) in try Target(text) }
        try Output.writeLine(" 1: start")
        try print(target, indent: 3, flags: nil)

        let loop = try EventLoop(watchesReader: true)
        var count = 3
        var failure: (any Error)?
        target.onChange = { flags in
            do {
                let number = count < 10 ? " \(count)" : "\(count)"
                let value = padded(Int(flags.rawValue), to: 8, radix: 16)
                count += 1
                try Output.writeLine("\n*** \(TimeOfDay.now.text)\n")
                try Output.writeLine("\(number): callback w/flags=0x\(value) (info=\"\(target.kind.rawValue)\")")
                try print(target, indent: 4, flags: flags)
                try Output.writeLine("")
            } catch { failure = error }
        }
        try determined { () throws(Failure) in try target.schedule(on: loop.runLoop) }
        try Output.writeLine(" 2: on runloop")
        try print(target, indent: 3, flags: try determined(target.flags))
        while try loop.next() != .readerGone {
            if let failure { throw failure }
        }
    }

    private func print(_ target: Target, indent: Int, flags: SCNetworkReachabilityFlags?) throws {
        let description = target.description.prefix { $0 != "\n" }
        try Output.writeLine(String(repeating: " ", count: indent) + description)
        if let flags { try Output.writeLine(text(of: flags)) }
    }

    private func text(of flags: SCNetworkReachabilityFlags) -> String {
        string { SCNetworkReachabilityFlagsGetString(flags, $0, $1) }
    }
}
#endif
