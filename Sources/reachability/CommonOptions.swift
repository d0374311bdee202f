// SPDX-License-Identifier: MIT

#if Tool
import ArgumentParser
import Glibc
import NetworkReachability
import ReachabilityInternals

/// The options of check, watch and wait.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also read targets from this file, one a line; '-' is standard input.",
            discussion: "Blank lines, and comments that begin with #, are ignored.", valueName: "path"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "Query this network namespace: a name as of ip-netns(8), or a path.", valueName: "namespace"),
        completion: .shellCommand("ls /run/netns 2>/dev/null"))
    var netns: String?

    @Option(
        help: ArgumentHelp("Use only routes out of this interface. It need not exist yet.", valueName: "name"),
        completion: .shellCommand("ls /sys/class/net")
    )
    var interface: String?

    @Option(help: ArgumentHelp("Send from this address. Targets must then be addresses.", valueName: "address"))
    var source: String?

    @Flag(name: .customShort("4"), help: "Use only IPv4 addresses, and the default path of IPv4.")
    var ipv4 = false

    @Flag(name: .customShort("6"), help: "Use only IPv6 addresses, and the default path of IPv6.")
    var ipv6 = false

    @Option(
        help: ArgumentHelp("Packets of TCP to this port: policy rules can select by port.", valueName: "port"))
    var tcp: UInt16?

    @Option(help: ArgumentHelp("Packets of UDP to this port.", valueName: "port"))
    var udp: UInt16?

    @Option(help: ArgumentHelp("The routing mark of the packets: decimal, or hexadecimal with 0x.", valueName: "mark"))
    var mark: Mark?

    @Option(
        help: ArgumentHelp(
            "Print each state as text, as JSON, or as values with tabs between them.",
            discussion: """
                The values of tsv: target, status, reason, interface, gateway, source, flags, time; '-' for none.
                """))
    var format: Presentation.Format?

    @Flag(
        help: ArgumentHelp(
            "The same as --format json.",
            discussion: """
                The reason is null if the target is reachable, else one of: \
                \(ReachabilityReason.codes.map(\.code).joined(separator: ", ")).
                """))
    var json = false

    @Option(help: "Colours: auto is on a terminal, unless NO_COLOR is set.")
    var color = Presentation.ColourChoice.auto

    @Flag(help: "Print the flags in the words of Apple's tool, also in columns.")
    var flags = false

    @Flag(name: [.short, .long], help: "Print no states. Errors still go to standard error.")
    var quiet = false

    @Flag(help: "Also print to standard error what the library knows about each target.")
    var debug = false

    /// What the parser gives if there is no option. One that is missing here ends the process when it is read.
    static var usual: CommonOptions {
        var options = CommonOptions()
        options.file = nil
        options.netns = nil
        options.interface = nil
        options.source = nil
        options.tcp = nil
        options.udp = nil
        options.ipv4 = false
        options.ipv6 = false
        options.mark = nil
        options.format = nil
        options.json = false
        options.color = .auto
        options.flags = false
        options.quiet = false
        options.debug = false
        return options
    }

    func validate() throws {
        if let format, json, format != .json {
            throw ValidationError("--json and --format \(format): give one of them.")
        }
        if quiet && presentation.format != .text {
            throw ValidationError("--quiet prints no states, and --\(json ? "json" : "format") prints them.")
        }
        if ipv4 && ipv6 { throw ValidationError("-4 and -6: give one of them.") }
        if tcp != nil && udp != nil { throw ValidationError("--tcp and --udp: give one of them.") }
        if tcp == 0 || udp == 0 { throw ValidationError("A port is a number from 1 to 65535.") }
        if let interface, !(1...127).contains(interface.utf8.count) {
            throw ValidationError("The name of an interface has 1 to 15 bytes, an alternative one up to 127.")
        }
    }

    /// A target for each text, or why it cannot be one. Without texts: the default path.
    func candidates(_ texts: [String], notifiesPath: Bool = false) throws(ToolError) -> [Result<Target, ToolError>] {
        let texts = try withLists(texts)
        // First of all: the zones of addresses are interfaces of the namespace.
        if let netns { try enterNetworkNamespace(netns) }
        if let source, IPAddress(numeric: source) == nil {
            let flaw = IPAddress.isLiteral(source) ? "names an interface that does not exist" : "is not an address"
            throw ToolError("the source '\(source)' \(flaw)")
        }
        let binding = TargetBinding(
            interface: interface, source: source.flatMap(IPAddress.init(numeric:)),
            transport: tcp != nil ? .tcp : udp != nil ? .udp : nil, port: tcp ?? udp ?? 0, mark: mark?.value ?? 0,
            family: ipv4 ? .ipv4 : ipv6 ? .ipv6 : nil, notifiesPath: notifiesPath)
        return (texts.isEmpty ? [Target.defaultPathText] : texts).map { text in
            Result { () throws(ToolError) in try Target(host: text, binding: binding) }
        }
    }

    /// Whether standard input is a list of targets.
    func readsInput(_ texts: [String]) -> Bool { ([file].compactMap { $0 } + texts).contains(TargetFile.standardInput) }

    /// The texts, with those of lists instead of their names.
    private func withLists(_ texts: [String]) throws(ToolError) -> [String] {
        var all: [String] = []
        for text in texts {
            all += text == TargetFile.standardInput ? try TargetFile(path: text).targets() : [text]
        }
        if let file { all += try TargetFile(path: file).targets() }
        return all
    }

    /// For commands that need all their targets: prints what is wrong with each of them, and ends.
    func targets(_ texts: [String], notifiesPath: Bool = false) throws -> [Target] {
        let candidates = try candidates(texts, notifiesPath: notifiesPath)
        let failures = candidates.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        for failure in failures { StandardError.write(failure.message.escaped) }
        if let status = failures.map(\.exitStatus).max() { throw ExitCode(status) }
        return try candidates.map { try $0.get() }
    }

    var presentation: Presentation {
        Presentation(format: json ? .json : format ?? .text, colours: color, hasFlagText: flags)
    }

    /// Whether the output is for the eyes of somebody at a terminal, which obeys escape sequences.
    var isForTerminal: Bool { BoardDisplay.isPossible && format == nil && !json && !quiet && !debug }

    /// nil if nothing should be printed.
    func lineDisplay(hasTime: Bool = false) -> LineDisplay? {
        quiet ? nil : LineDisplay(presentation: presentation, hasTime: hasTime)
    }

    func printDescription(of target: Target) {
        if debug { StandardError.writeLine(target.description) }
    }
}

extension Target {
    /// Refuses texts that cannot be the name of a host. A URL is the most common mistake.
    fileprivate convenience init(host text: String, binding: TargetBinding) throws(ToolError) {
        if text.hasPrefix("-") { throw ToolError("\(text): is no target: a name does not begin with a hyphen") }
        if let slash = text.firstIndex(of: "/"), IPAddress.isLiteral(String(text[..<slash])) {
            throw ToolError("\(text): is a network, not a host; give one address of it")
        }
        if text.utf8.contains(where: { $0 == 0 }) { throw ToolError("\(text): has a null character") }
        if text.contains(where: { $0 == "/" || $0.isWhitespace }) {
            throw ToolError("\(text): is neither a name nor an address; give only the host of a URL")
        }
        if !text.contains(","), text.contains(where: { ":[]".contains($0) }), !IPAddress.isLiteral(text) {
            let hint = text.addressInBrackets.map { ": \($0)" } ?? ""
            throw ToolError("\(text): is neither a name nor an address; leave out a port, and brackets\(hint)")
        }
        if !IPAddress.isLiteral(text), text.endsInNumber {
            throw ToolError("\(text): is not an address, and no name ends in a number")
        }
        if HostNameFlaw(of: text) == .notConvertible {
            throw ToolError("\(text): cannot be converted to an international name; has the machine libidn2?")
        }
        try self.init(text, binding: binding)
    }
}

extension String {
    /// The address in `[address]` or `[address]:port`, as this tool takes it. nil: there is none.
    fileprivate var addressInBrackets: String? {
        guard hasPrefix("["), let end = lastIndex(of: "]") else { return nil }
        let text = String(self[..<end].dropFirst())
        // In a URL, "%25" is the "%" before a zone (RFC 6874).
        return IPAddress.isLiteral(text) ? text.replacing("%25", with: "%", maxReplacements: 1) : nil
    }

    /// Whether a text ends like an IPv4 address. There is no such top-level domain.
    fileprivate var endsInNumber: Bool {
        guard !contains(","), let last = split(separator: ".").last else { return false }
        let digits = last.lowercased()
        return digits.allSatisfy { $0.isASCII && $0.isNumber }
            || digits.hasPrefix("0x") && digits.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

extension ArgumentHelp {
    static let targets = ArgumentHelp(
        "Names, addresses, or LOCAL,REMOTE; 'default' is the default path; '-' reads targets from standard input.",
        valueName: "target")
}

extension Presentation.Format: ExpressibleByArgument {}
extension Presentation.ColourChoice: ExpressibleByArgument {}

/// A routing mark, as ip(8) takes it.
struct Mark: ExpressibleByArgument {
    let value: UInt32

    init?(argument: String) {
        let isHexadecimal = argument.lowercased().hasPrefix("0x")
        let digits = isHexadecimal ? argument.dropFirst(2) : argument[...]
        guard !digits.hasPrefix("+"), let value = UInt32(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        self.value = value
    }
}

extension ParsableCommand {
    /// Runs a command's body. A `ToolError` ends the process with its status, and with one line that says why.
    func reporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as ToolError {
            StandardError.write(failure.message.escaped)
            throw ExitCode(failure.exitStatus)
        }
    }
}

/// A duration as people write it: seconds with a fraction (`0.5`), or numbers with units (`500ms`, `1m30s`, `2h`).
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration

    private static let units: [String: Double] = ["ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400]

    init?(argument: String) {
        guard let seconds = Double(argument) ?? TimeSpan.sum(argument), seconds >= 0, seconds.isFinite else {
            return nil
        }
        // At most a thousand years, so that no clock overflows.
        duration = .seconds(min(seconds, 3e10))
    }

    init(seconds: Int) {
        duration = .seconds(seconds)
    }

    var defaultValueDescription: String { "\(duration.components.seconds)" }

    var fromNow: ContinuousClock.Instant { .now + duration }

    private static func sum(_ text: String) -> Double? {
        var (sum, rest) = (0.0, text[...])
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest.removeFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest.removeFirst(unit.count)
            guard let number = Double(digits), let factor = units[String(unit)] else { return nil }
            sum += number * factor
        } while !rest.isEmpty
        return sum
    }
}
#endif
