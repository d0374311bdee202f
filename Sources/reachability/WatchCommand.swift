// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import Glibc

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state of targets and every change, until interrupted.",
        discussion: """
            Without a target it watches the default path. On a terminal it shows a board until q or Ctrl-C, and then \
            prints a summary. Elsewhere, and with --format, --debug or --exec, it prints a line for each state.
            """
    )

    @Argument(help: .targets)
    var targets: [String] = []

    @Option(
        help: ArgumentHelp(
            "Run this shell command at every change.",
            discussion: """
                Its environment has REACHABILITY_TARGET, REACHABILITY_FLAGS, REACHABILITY_STATUS (reachable, \
                unreachable or pending), REACHABILITY_REASON (a code), REACHABILITY_INTERFACE, \
                REACHABILITY_INTERFACE_TYPE, REACHABILITY_GATEWAY, REACHABILITY_SOURCE, REACHABILITY_TIME, \
                REACHABILITY_PREVIOUS_STATUS and REACHABILITY_PREVIOUS_REASON. One command runs at a time. If targets change meanwhile, it then runs \
                once for each of them, with the latest state.
                """,
            valueName: "command"
        )
    )
    var exec: String?

    @Flag(help: "Run the command for the first states, too.")
    var execInitial = false

    @Option(
        help: ArgumentHelp(
            "Keep the states in this file, for node_exporter's textfile collector.",
            discussion: """
                It is replaced at every change and every 15 seconds. The collector reads only names that end in .prom.
                """,
            valueName: "path"),
        completion: .file(extensions: ["prom"])
    )
    var textfile: String?

    @Option(help: ArgumentHelp("Exit after this number of changes.", valueName: "number"))
    var count: Int?

    @Option(help: ArgumentHelp("Exit after this time.", valueName: "duration"))
    var timeout: TimeSpan?

    @OptionGroup var options: CommonOptions

    func validate() throws {
        if execInitial && exec == nil { throw ValidationError("--exec-initial needs --exec.") }
        if let count, count < 1 { throw ValidationError("The number of changes is 1 or more.") }
    }

    func run() throws {
        try reporting {
            let targets = try options.targets(targets, notifiesPath: true)
            let deadline = timeout?.fromNow
            let usesBoard = options.isForTerminal && exec == nil
            let signals = [SIGINT, SIGTERM, SIGCHLD] + (usesBoard ? BoardDisplay.signals : [])
            let keyboard = Keyboard(inputIsList: usesBoard && options.readsInput(self.targets))
            let loop = try EventLoop(signals: signals, watchesReader: !options.quiet, keyboard: keyboard)
            let histories = targets.map(TargetHistory.init(of:))
            let display: (any StateDisplay)? =
                usesBoard
                ? BoardDisplay(
                    histories, keyboard: loop.keyboard, isColoured: options.presentation.isColouredOnTerminal)
                : options.lineDisplay(hasTime: true)
            let watching = Watching(
                histories: histories, loop: loop, display: display, count: count, runner: exec.map(CommandRunner.init),
                runsInitially: execInitial,
                metrics: textfile.map { MetricsFile(path: $0, histories) }, options: options)
            defer { try? display?.suspend() }
            let signal = try watching.run(until: deadline)
            try display?.finish()
            if let signal { raise(signal) }
        }
    }
}
#endif
