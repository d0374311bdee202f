// SPDX-License-Identifier: MIT

import Glibc

/// A file with the states as metrics, for the textfile collector of Prometheus' node_exporter.
///
/// It has Prometheus' text format, the only one that the collector reads. OpenMetrics declares counters in another way:
/// the collector would take them for untyped.
final class MetricsFile {
    /// The time that a target is unreachable grows without a change. The file's time also shows that it is current.
    static let interval: Duration = .seconds(15)

    private let path: String
    private let histories: [TargetHistory]
    private(set) var due = ContinuousClock.now
    private var failure: Int32 = 0

    /// Two targets with one text would be the same metric: the first one counts.
    init(path: String, _ histories: [TargetHistory]) {
        self.path = path
        var texts: Set<String> = []
        self.histories = histories.filter { texts.insert($0.target.text).inserted }
    }

    /// The first failure ends the command. A later one is printed once, and the next time may succeed.
    func write(isFirst: Bool = false) throws(ToolError) {
        due = .now + MetricsFile.interval
        let error = replaceFile()
        defer { failure = error }
        if error == 0 || error == failure { return }
        let reason = ToolError(writing: path, error: error)
        if isFirst { throw reason }
        StandardError.write(reason.message.escaped)
    }

    /// A reader sees the old file or the new one. The name does not end in `.prom`, so the collector ignores it. Who else
    /// may write to the folder cannot have put a link to another file there.
    private func replaceFile() -> Int32 {
        let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor < 0 { return errno }
        var error = writeAll(text, to: descriptor)
        if close(descriptor) != 0 && error == 0 { error = errno }
        if error == 0 && rename(temporary, path) != 0 { error = errno }
        if error != 0 { unlink(temporary) }
        return error
    }

    private var text: String {
        family("reachable", "gauge", "Whether a packet can leave for the target: 1 or 0. None: a name is pending.") {
            $0.state.flatMap { $0.status == .pending ? nil : [("", $0.status == .reachable ? "1" : "0")] } ?? []
        }
            + family("reason", "gauge", "The reason why the target is not reachable, with the value 1.") {
                $0.state?.reasonCode.map { [(",reason=\"\($0)\"", "1")] } ?? []
            }
            + family("changes_total", "counter", "Changes of the target's state since the start.") {
                [("", "\($0.changes)")]
            }
            + family("unreachable_seconds_total", "counter", "Seconds for which the target was unreachable.") {
                [("", $0.unreachable.secondsText)]
            }
    }

    private func family(
        _ name: String, _ type: String, _ help: String, samples: (TargetHistory) -> [(labels: String, value: String)]
    ) -> String {
        let lines = histories.flatMap { history in
            samples(history).map { sample in
                "reachability_\(name){target=\"\(history.target.text.labelEscaped)\"\(sample.labels)} \(sample.value)\n"
            }
        }
        return "# HELP reachability_\(name) \(help)\n# TYPE reachability_\(name) \(type)\n" + lines.joined()
    }
}

extension String {
    /// The text as the value of a label.
    fileprivate var labelEscaped: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n": text += #"\n"#
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
