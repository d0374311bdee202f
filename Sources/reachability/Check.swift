// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell whether targets are reachable: exits 0 when all are, 1 when one is not."
    )

    @Argument(help: ArgumentHelp("Names, addresses, or LOCAL,REMOTE.", valueName: "target"))
    var targets: [String]

    @Option(help: ArgumentHelp("Wait so long for the first answer about a name.", valueName: "seconds"))
    var timeout = Seconds(5)

    @OptionGroup var options: Options

    func run() throws {
        try reporting {
            let targets = try options.targets(targets)
            let deadline = timeout.fromNow
            let loop = try EventLoop()
            var states: [State] = []
            for target in targets {
                states.append(try target.state())
                // Only a name's answer is waited for, and asking for it begins with the schedule.
                if states.last?.isPending == true { try target.schedule(on: loop.runLoop) }
            }
            while states.contains(where: \.isPending), try loop.next(until: deadline) != .timeout {
                for (index, target) in targets.enumerated() where states[index].isPending {
                    states[index] = try target.state()
                }
            }
            let lines = Lines(form: options.json ? .json : .text)
            for (target, state) in zip(targets, states) {
                try lines.show(target, state)
                options.printDescription(of: target)
            }
            if !states.allSatisfy(\.isReachable) { throw ExitCode(ExitStatus.unmet) }
        }
    }
}
#endif
