// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import NetworkReachability

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Tell whether targets are reachable: exits 0 when all are, 1 when one is not."
    )

    @Argument(help: ArgumentHelp("Names, addresses, or LOCAL,REMOTE.", valueName: "target"))
    var targets: [String]

    @Option(help: ArgumentHelp("Wait so long for the first answer about a name.", valueName: "seconds"))
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
