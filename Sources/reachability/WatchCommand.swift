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
                REACHABILITY_INTERFACE_TYPE, REACHABILITY_GATEWAY, REACHABILITY_SOURCE, REACHABILITY_DESTINATION, \
                REACHABILITY_ADDRESSES, REACHABILITY_TIME, REACHABILITY_PREVIOUS_STATUS and \
                REACHABILITY_PREVIOUS_REASON. It also runs when the addresses of a name change. One command runs at a \
                time. If targets change meanwhile, it then runs once for each of them, with the latest state.
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

    @Option(
        help: ArgumentHelp(
            "Report a change when nothing has changed for this time, or after ten times as long.",
            discussion: "A change that is undone within this time is not reported.", valueName: "duration"))
    var settle = TimeSpan(seconds: 0)

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
            let histories = targets.map { TargetHistory(of: $0, settleTime: settle.duration) }
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

/// The work of `watch`: shows the states of targets, and every change.
struct Watching {
    let histories: [TargetHistory]
    let loop: EventLoop
    let display: (any StateDisplay)?
    /// The changes after which it ends; nil: it goes on.
    let count: Int?
    let runner: CommandRunner?
    /// Whether the command runs for the first states, too.
    let runsInitially: Bool
    let metrics: MetricsFile?
    let options: CommonOptions

    /// Callbacks only mark their target. When all callbacks that were due have come, states are read and shown.
    private let changed = ChangedTargets()

    /// Another set of addresses is a change where the output has all addresses.
    private func isSame(_ state: TargetState, _ other: TargetState?) -> Bool {
        options.presentation.format == .json || runner != nil ? state == other : state.hasLine(of: other)
    }

    /// Returns at the deadline, after `count` changes, when the reader is gone, or when the user wants to leave. Returns
    /// a signal that should end the process.
    func run(until deadline: ContinuousClock.Instant?) throws(ToolError) -> Int32? {
        try start()
        while true {
            let dues = changed.unsettled.map { histories[$0].due }
            let event = try loop.next(until: (dues + [deadline, metrics?.due]).compactMap { $0 }.min())
            try showChanges()
            if changesLeft == 0 && runner?.isWaiting != true { return nil }
            switch event {
            case .timeout where deadline.map { $0 <= .now } ?? false: return nil
            case .timeout: if let due = metrics?.due, due <= .now { try metrics?.write() }
            case .readerGone: return nil
            case .keys(let keys):
                if keys.contains("\u{3}") || keys.contains("\u{4}") { return nil }
                if try display?.obey(keys) == false { return nil }
            case .signals(let signals) where !signals.isDisjoint(with: [SIGINT, SIGTERM]): return nil
            case .signals(let signals):
                if let signal = signals.intersection([SIGQUIT, SIGHUP]).first {
                    Signals.restore(signal)
                    return signal
                }
                try handle(signals)
            case .targets: break
            }
        }
    }

    private func start() throws(ToolError) {
        for (index, history) in histories.enumerated() {
            history.target.onChange = { [changed] _ in changed.indices.insert(index) }
            try history.target.schedule(on: loop.runLoop)
        }
        try loop.perform()
        for history in histories {
            let state = try history.target.state()
            try show(history, state, hasLine: true)
            if runsInitially { runner?.run(for: history.target, state, previous: nil) }
        }
        try display?.flush()
        try metrics?.write(isFirst: true)
    }

    private var changesLeft: Int {
        count.map { max(0, histories.reduce($0) { $0 - $1.changes }) } ?? .max
    }

    private func showChanges() throws(ToolError) {
        var isChanged = false
        var changesLeft = changesLeft
        // A target may have changed back before the callback, or its state may be among the first ones.
        for index in changed.takeAll() {
            try histories[index].follow(isSame)
            changed.unsettled.insert(index)
        }
        let now = ContinuousClock.now
        for index in changed.unsettled.sorted() where changesLeft > 0 {
            let history = histories[index]
            let previous = history.state
            let settled = history.settled(at: now)
            if history.due == nil { changed.unsettled.remove(index) }
            guard let state = settled else { continue }
            try show(history, state, hasLine: options.presentation.format == .json || !state.hasLine(of: previous))
            runner?.run(for: history.target, state, previous: previous)
            isChanged = true
            changesLeft -= 1
        }
        if isChanged {
            try display?.flush()
            try metrics?.write()
        }
    }

    private func show(_ history: TargetHistory, _ state: TargetState, hasLine: Bool) throws(ToolError) {
        history.record(state)
        if hasLine { try display?.show(history.target, state) }
        options.printDescription(of: history.target)
    }

    private func handle(_ signals: Set<Int32>) throws(ToolError) {
        if signals.contains(SIGCHLD) { runner?.commandMayHaveEnded() }
        if signals.contains(SIGTSTP) {
            try display?.suspend()
            raise(SIGSTOP)
        }
        // SIGSTOP comes without a warning: what the shell has done to the terminal since is seen only now.
        if signals.contains(SIGCONT) { loop.keyboard.reopen() }
        if !signals.isDisjoint(with: [SIGTSTP, SIGCONT, SIGWINCH]) { try display?.redraw() }
    }
}
#endif
