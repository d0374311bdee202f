// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import NetworkReachability

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until targets are reachable. Exits with 0 as soon as they are, with 1 at the time-out.",
        discussion: """
            Without a target it waits for the default path. With --json it prints the states at the end. At the \
            time-out it names the targets that it still waits for.
            """
    )

    @Argument(help: .targets)
    var targets: [String] = []

    @Flag(help: "One of the targets is enough.")
    var any = false

    @Flag(help: "Wait until they are not reachable.")
    var not = false

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout: TimeSpan?

    @OptionGroup var options: CommonOptions

    func run() throws {
        try reporting {
            let targets = try options.targets(targets, notifiesPath: true)
            let deadline = timeout?.fromNow
            let loop = try EventLoop()
            for target in targets { try target.schedule(on: loop.runLoop) }
            try loop.perform()
            var states = try targets.map { try $0.state() }
            while !isMet(by: states), try loop.next(until: deadline) != .timeout {
                states = try targets.map { try $0.state() }
            }
            if options.presentation.format != .text {
                for (target, state) in zip(targets, states) { try options.lineDisplay()?.show(target, state) }
            }
            targets.forEach(options.printDescription)
            if isMet(by: states) { return }
            for (target, state) in zip(targets, states) where !isAsWanted(state) && !options.quiet {
                StandardError.write("time-out: \(target.label)  \(state.lineAtTimeOut)")
            }
            throw ExitCode(ExitStatus.unmet)
        }
    }

    private func isMet(by states: [TargetState]) -> Bool {
        any ? states.contains(where: isAsWanted) : states.allSatisfy(isAsWanted)
    }

    /// A name that is not looked up yet is neither reachable nor unreachable.
    private func isAsWanted(_ state: TargetState) -> Bool {
        state.status == (not ? .unreachable : .reachable)
    }
}
#endif
