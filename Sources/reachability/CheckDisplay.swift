// SPDX-License-Identifier: MIT

/// Shows the results of a check, which come in any order.
protocol CheckDisplay {
    func show(_ result: Result<TargetState, ToolError>, at index: Int) throws(ToolError)
    /// All results have been shown.
    func finish() throws(ToolError)
}

/// Prints in the order of the targets, each result as soon as it and those before it are known.
final class OrderedCheckDisplay: CheckDisplay {
    private let print: (Int, Result<TargetState, ToolError>) throws(ToolError) -> Void
    private var results: [Int: Result<TargetState, ToolError>] = [:]
    private var next = 0

    init(print: @escaping (Int, Result<TargetState, ToolError>) throws(ToolError) -> Void) {
        self.print = print
    }

    func show(_ result: Result<TargetState, ToolError>, at index: Int) throws(ToolError) {
        results[index] = result
        while let result = results.removeValue(forKey: next) {
            try print(next, result)
            next += 1
        }
    }

    func finish() {}
}

/// Prints each result on a terminal as soon as it is known. A line before it that is not known yet says so, and is
/// written again later.
final class TerminalCheckDisplay: CheckDisplay {
    private let labels: [String]
    private let size: (width: Int, height: Int)
    /// The lines that are known; nil: there is none, but an error.
    private var lines: [Int: String?] = [:]
    private var errors: [Int: ToolError] = [:]
    private var shownCount = 0

    /// `labels`: those of the targets.
    init(labels: [String], size: (width: Int, height: Int)) {
        self.labels = labels
        self.size = size
    }

    func show(_ result: Result<TargetState, ToolError>, at index: Int) throws(ToolError) {
        switch result {
        case .success(let state): lines[index] = "\(labels[index])  \(state.line)"
        case .failure(let error):
            errors[index] = error
            lines.updateValue(nil, forKey: index)
        }
        if index >= shownCount {
            let first = shownCount
            shownCount = index + 1
            try StandardOutput.write(text(from: first))
        } else {
            try rewrite(index)
        }
    }

    /// Errors come last: the terminal may show both outputs, and a line between the others would move them.
    func finish() {
        for (_, error) in errors.sorted(by: { $0.key < $1.key }) { StandardError.write(error.message.escaped) }
    }

    /// The line of a target; nil: it has none.
    private func line(_ index: Int) -> String? {
        lines[index] ?? "\(labels[index])  Pending"
    }

    private func text(from first: Int) -> String {
        (first..<shownCount).compactMap(line).map { $0 + "\n" }.joined()
    }

    /// A line that has left the screen is printed once more, at the end.
    private func rewrite(_ index: Int) throws(ToolError) {
        let below = (index + 1..<shownCount).compactMap(line)
        let rows = (["\(labels[index])  Pending"] + below).reduce(0) {
            $0 + max(1, ($1.columns + size.width - 1) / size.width)
        }
        if rows < size.height {
            try StandardOutput.write("\u{1B}[\(rows)A\u{1B}[J" + text(from: index))
        } else if let line = line(index) {
            try StandardOutput.writeLine(line)
        }
    }
}
