// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import Glibc

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state of targets and every change, until interrupted.",
        discussion: """
            Without a target it watches the default path. On a terminal it shows a table; elsewhere, and with --json, \
            --debug or --exec, it prints a line for each state.
            """
    )

    @Argument(help: ArgumentHelp("Names, addresses, or LOCAL,REMOTE.", valueName: "target"))
    var targets: [String] = []

    @Option(
        help: ArgumentHelp(
            "Run this shell command at every change.",
            discussion: """
                Its environment has REACHABILITY_TARGET, REACHABILITY_FLAGS, REACHABILITY_STATUS (reachable or \
                unreachable), REACHABILITY_REASON, REACHABILITY_INTERFACE and REACHABILITY_INTERFACE_TYPE. One command \
                runs at a time. If targets change meanwhile, it then runs once for each of them, with the latest state.
                """,
            valueName: "command"
        )
    )
    var exec: String?

    @Option(help: ArgumentHelp("Exit after this time.", valueName: "seconds"))
    var timeout: Seconds?

    @OptionGroup var options: CommonOptions

    func run() throws {
        try reporting {
            let targets = try options.targets(targets, notifiesPath: true)
            let deadline = timeout?.fromNow
            let usesTable = !options.json && !options.debug && exec == nil && TableDisplay.isPossible
            let signals = [SIGINT, SIGTERM, SIGCHLD] + (usesTable ? TableDisplay.signals : [])
            let loop = try EventLoop(signals: signals, watchesReader: true)
            let display: any StateDisplay =
                usesTable ? TableDisplay(targets) : LineDisplay(form: options.json ? .json : .textWithTime)
            let runner = exec.map(CommandRunner.init)
            defer { try? display.suspend() }
            try watch(targets, on: loop, until: deadline, display: display, runner: runner)
        }
    }

    private func watch(
        _ targets: [Target], on loop: EventLoop, until deadline: ContinuousClock.Instant?, display: any StateDisplay,
        runner: CommandRunner?
    ) throws {
        // Callbacks only mark their target. When all callbacks that were due have come, states are read and shown.
        let changed = ChangedTargets()
        for (index, target) in targets.enumerated() {
            target.onChange = { _ in changed.indices.insert(index) }
            try target.schedule(on: loop.runLoop)
        }
        var states: [TargetState] = []
        for target in targets {
            let state = try target.state()
            states.append(state)
            try display.show(target, state)
            options.printDescription(of: target)
        }
        while true {
            let event = try loop.next(until: deadline)
            for index in changed.takeAll() {
                // The state is newer than the callback: an earlier event may have shown it already.
                let target = targets[index]
                let state = try target.state()
                guard state != states[index] else { continue }
                states[index] = state
                try display.show(target, state)
                options.printDescription(of: target)
                runner?.run(for: target, state)
            }
            switch event {
            case .timeout, .readerGone: return
            case .signals(let signals) where !signals.isDisjoint(with: [SIGINT, SIGTERM]): return
            case .signals(let signals):
                if signals.contains(SIGCHLD) { runner?.commandMayHaveEnded() }
                if signals.contains(SIGTSTP) {
                    try display.suspend()
                    raise(SIGSTOP)
                }
                if !signals.isDisjoint(with: [SIGTSTP, SIGWINCH]) { try display.redraw() }
            case .targets: break
            }
        }
    }
}

/// The targets that had a callback.
private final class ChangedTargets {
    var indices: Set<Int> = []

    func takeAll() -> [Int] {
        defer { indices = [] }
        return indices.sorted()
    }
}
#endif
