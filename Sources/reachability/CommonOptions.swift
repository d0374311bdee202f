// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import Glibc
import NetworkReachability

/// The options of check, watch and wait.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Use only routes out of this interface. It need not exist yet.", valueName: "name"),
        completion: .shellCommand("ls /sys/class/net")
    )
    var interface: String?

    @Option(help: ArgumentHelp("Send from this address. Targets must then be addresses.", valueName: "address"))
    var source: String?

    @Flag(help: "Print each state as one line of JSON.")
    var json = false

    @Flag(help: "Also print to standard error what the library knows about each target.")
    var debug = false

    func validate() throws {
        if let interface, !(1...15).contains(interface.utf8.count) {
            throw ValidationError("The name of an interface has 1 to 15 bytes.")
        }
        if let source, Address(numeric: source) == nil {
            let flaw = Address.isLiteral(source) ? "names an interface that does not exist" : "is not an address"
            throw ValidationError("The source '\(source.escaped)' \(flaw).")
        }
    }

    /// Without texts: the default path.
    func targets(_ texts: [String], notifiesPath: Bool = false) throws(ToolError) -> [Target] {
        let binding = TargetBinding(
            interface: interface, source: source.flatMap(Address.init(numeric:)), notifiesPath: notifiesPath)
        if texts.isEmpty { return [try Target(defaultPath: binding)] }
        var targets: [Target] = []
        for text in texts { targets.append(try Target(host: text, binding: binding)) }
        return targets
    }

    func printDescription(of target: Target) {
        if debug { StandardError.writeLine(target.description) }
    }
}

extension Target {
    /// A URL is the most common mistake. As a name, it would never be found.
    fileprivate convenience init(host text: String, binding: TargetBinding) throws(ToolError) {
        if text.contains(where: { $0 == "/" || $0.isWhitespace }) {
            throw ToolError("\(text): is neither a name nor an address; give only the host of a URL")
        }
        if !text.contains(","), text.contains(where: { ":[]".contains($0) }), !Address.isLiteral(text) {
            throw ToolError("\(text): is neither a name nor an address; leave out a port, and brackets")
        }
        try self.init(text, binding: binding)
    }
}

/// A number of seconds, with a fraction.
struct Seconds: ExpressibleByArgument {
    private let duration: Duration

    init?(argument: String) {
        guard let seconds = Double(argument), seconds >= 0, seconds.isFinite else { return nil }
        // At most a thousand years, so that no clock overflows.
        duration = .seconds(min(seconds, 3e10))
    }

    init(_ seconds: Int) {
        duration = .seconds(seconds)
    }

    var defaultValueDescription: String { "\(duration.components.seconds)" }

    var fromNow: ContinuousClock.Instant { .now + duration }
}

extension ParsableCommand {
    /// Runs a command's body. A `ToolError` ends the process with status 70, and with one line that says why.
    func reporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as ToolError {
            StandardError.write(failure.message.escaped)
            throw ExitCode(ExitStatus.unusable)
        }
    }
}
#endif
