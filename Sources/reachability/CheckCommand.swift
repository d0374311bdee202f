// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import NetworkReachability

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Print whether targets are reachable. Exits with 0 if all are, otherwise with 1.",
        discussion: """
            Without a target it checks the default path. Lines are in the order of the targets, each as soon as it \
            and those before it are known; on a terminal no line waits for another. A name that is not looked up in \
            time is Pending.
            """
    )

    @Argument(help: .targets)
    var targets: [String] = []

    @Option(help: ArgumentHelp("How long to wait until names are looked up, from the start.", valueName: "duration"))
    var timeout = usualTimeout

    @OptionGroup var options: CommonOptions

    private static let usualTimeout = TimeSpan(seconds: 5)

    /// The command for arguments without an option, or nil. Parsing takes half of the time until the first line, so these
    /// are not parsed.
    static func plain(_ arguments: [String]) -> CheckCommand? {
        let isNamed = arguments.first == CommandWord.check.rawValue
        guard isNamed || arguments.first.flatMap(CommandWord.init(rawValue:)) == nil,
            !arguments.contains(where: { $0.hasPrefix("-") })
        else { return nil }
        var command = CheckCommand()
        command.targets = Array(arguments.dropFirst(isNamed ? 1 : 0))
        command.timeout = usualTimeout
        command.options = .usual
        return command
    }

    /// If a target cannot be used, the lines of the others are still printed.
    func run() throws {
        let deadline = timeout.fromNow
        try reporting {
            let candidates = try options.candidates(targets)
            let display = display(of: candidates)
            var status: Int32 = 0
            var failed: [String] = []
            try reportFirstStates(of: candidates, until: deadline) { index, result throws(ToolError) in
                switch result {
                case .success(let state): status = max(status, state.status == .reachable ? 0 : ExitStatus.unmet)
                case .failure(let error): status = max(status, error.exitStatus)
                }
                if case .success(let state) = result, state.isFailedLookUp, let target = try? candidates[index].get() {
                    failed.append(target.text)
                }
                try display.show(result, at: index)
            } beforeWaiting: { () throws(ToolError) in
                try display.flush()
            }
            try display.finish()
            if !options.quiet, let hint = CommandWord.hint(for: failed, in: Arguments.all) { StandardError.write(hint) }
            if status != 0 { throw ExitCode(status) }
        }
    }

    private func display(of candidates: [Result<Target, ToolError>]) -> any CheckDisplay {
        let targets = candidates.map { try? $0.get() }
        if options.isForTerminal {
            return TerminalCheckDisplay(
                labels: targets.map { $0?.label ?? "" }, size: BoardDisplay.size, options.presentation)
        }
        let lines = options.lineDisplay()
        return OrderedCheckDisplay { index, result throws(ToolError) in
            switch result {
            case .failure(let error): StandardError.write(error.message.escaped)
            case .success(let state):
                guard let target = targets[index] else { return }
                try lines?.show(target, state)
                options.printDescription(of: target)
            }
        }
    }
}
#endif
