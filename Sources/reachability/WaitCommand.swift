// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import NetworkReachability

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until targets are reachable. Exits with 0 as soon as they are, with 1 at the time-out.",
        discussion: """
            Without a target it waits for the default path. With --format it prints the states at the end. At the \
            time-out it names the targets that it still waits for.
            """
    )

    @Argument(help: .targets)
    var targets: [String] = []

    @Flag(help: "One of the targets is enough.")
    var any = false

    @Flag(help: "Wait until they are not reachable.")
    var not = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("A target counts when it has been so for this time without a break.", valueName: "duration"))
    var time = TimeSpan(seconds: 0)

    @Flag(help: "Print the state of each target when it is met for the first time.")
    var print = false

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout: TimeSpan?

    @OptionGroup var options: CommonOptions

    func validate() throws {
        if print && options.quiet { throw ValidationError("--quiet prints no states, and --print prints them.") }
    }

    func run() throws {
        try reporting {
            let targets = try options.targets(targets, notifiesPath: true)
            let deadline = timeout?.fromNow
            let loop = try EventLoop()
            for target in targets { try target.schedule(on: loop.runLoop) }
            try loop.perform()
            var waiting = Waiting(
                targets: targets,
                condition: WaitCondition(
                    targets: targets.count, isNegated: not, needsOne: any, time: time.duration),
                display: print ? options.lineDisplay() : nil)
            var isMet = try waiting.update()
            while !isMet {
                let event = try loop.next(until: [deadline, waiting.nextTime].compactMap { $0 }.min())
                isMet = try waiting.update()
                if event == .timeout, let deadline, deadline <= .now { break }
            }
            try end(waiting, isMet: isMet)
        }
    }

    private func end(_ waiting: Waiting, isMet: Bool) throws {
        if !print && options.presentation.format != .text {
            for (target, state) in zip(waiting.targets, waiting.states) {
                try options.lineDisplay()?.show(target, state)
            }
        }
        waiting.targets.forEach(options.printDescription)
        if isMet { return }
        for (index, target) in waiting.targets.enumerated() where !waiting.isMet(index) && !options.quiet {
            StandardError.write("time-out: \(target.label)  \(waiting.lineAtTimeOut(index))")
        }
        throw ExitCode(ExitStatus.unmet)
    }
}
#endif
