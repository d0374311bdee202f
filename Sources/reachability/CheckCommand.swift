// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import NetworkReachability

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Print whether targets are reachable. Exits with 0 if all are, otherwise with 1."
    )

    @Argument(help: ArgumentHelp("Names, addresses, or LOCAL,REMOTE.", valueName: "target"))
    var targets: [String]

    @Option(help: ArgumentHelp("How long to wait until a name is looked up.", valueName: "seconds"))
    var timeout = Seconds(5)

    @OptionGroup var options: CommonOptions

    func run() throws {
        try reporting {
            let targets = try options.targets(targets)
            let states = try resolvedStates(of: targets, until: timeout.fromNow)
            let lines = LineDisplay(form: options.json ? .json : .text)
            for (target, state) in zip(targets, states) {
                try lines.show(target, state)
                options.printDescription(of: target)
            }
            if !states.allSatisfy(\.path.isReachable) { throw ExitCode(ExitStatus.unmet) }
        }
    }
}
#endif
