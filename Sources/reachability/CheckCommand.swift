// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import NetworkReachability

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Print whether targets are reachable. Exits with 0 if all are, otherwise with 1.",
        discussion: "Without a target it checks the default path. A name that is not looked up in time is Pending."
    )

    @Argument(help: .targets)
    var targets: [String] = []

    @Option(help: ArgumentHelp("How long to wait until a name is looked up.", valueName: "seconds"))
    var timeout = Seconds(5)

    @OptionGroup var options: CommonOptions

    /// If a target cannot be used, the lines of the others are still printed.
    func run() throws {
        try reporting {
            let candidates = options.candidates(targets)
            var states = try resolvedStates(of: candidates.compactMap { try? $0.get() }, until: timeout.fromNow)[...]
            let lines = options.lineDisplay(.text)
            var status: Int32 = 0
            for candidate in candidates {
                do throws(ToolError) {
                    let target = try candidate.get()
                    let state = try states.removeFirst().get()
                    try lines?.show(target, state)
                    options.printDescription(of: target)
                    if state.status != .reachable { status = max(status, ExitStatus.unmet) }
                } catch {
                    if error.exitStatus == ExitStatus.noOutput { throw error }
                    StandardError.write(error.message.escaped)
                    status = max(status, error.exitStatus)
                }
            }
            if status != 0 { throw ExitCode(status) }
        }
    }
}
#endif
