// SPDX-License-Identifier: MIT

/// Shows the results of a check, which come in any order.
protocol CheckDisplay {
    func show(_ result: Result<TargetState, ToolError>, at index: Int) throws(ToolError)
    /// The next result may come late.
    func flush() throws(ToolError)
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

    func flush() {}
    func finish() {}
}

/// Prints each result on a terminal as soon as it is known, in columns. A line before it that is not known yet says so,
/// and is written again later, as are all lines if a column becomes wider.
final class TerminalCheckDisplay: CheckDisplay {
    private enum Line {
        case known(cells: [String], BoardMark)
        case pending
        /// There is no line, but an error.
        case none
    }

    /// A longer target only moves its own line.
    private static let greatestTargetWidth = 40

    private let labels: [String]
    private let size: (width: Int, height: Int)
    private let presentation: Presentation
    private var lines: [Line]
    private var errors: [Int: ToolError] = [:]
    /// Of the columns after the target.
    private var widths: [Int] = []
    private let labelWidth: Int
    private var isWider = false
    /// The targets whose results have come and are not printed.
    private var changed: [Int] = []
    /// The lines on the terminal, from the first to the last, and the columns that they fill.
    private var shown: [(index: Int, columns: Int)] = []
    private var shownCount = 0

    /// `labels`: those of the targets.
    init(labels: [String], size: (width: Int, height: Int), _ presentation: Presentation) {
        self.labels = labels
        self.size = size
        self.presentation = presentation
        lines = labels.map { _ in .pending }
        labelWidth = min(labels.map(\.columns).max() ?? 0, TerminalCheckDisplay.greatestTargetWidth)
    }

    func show(_ result: Result<TargetState, ToolError>, at index: Int) {
        changed.append(index)
        switch result {
        case .success(let state):
            let cells = state.cells(presentation)
            let sizes = cells.map(\.columns)
            isWider = isWider || widths.isEmpty || zip(sizes, widths).contains { $0 > $1 }
            widths = widths.isEmpty ? sizes : zip(sizes, widths).map(max)
            lines[index] = .known(cells: cells, BoardMark(state.status))
        case .failure(let error):
            errors[index] = error
            lines[index] = .none
        }
    }

    /// Lines that have left the screen stay as they are. One of them that has changed is printed once more, at the end.
    func flush() throws(ToolError) {
        guard let last = changed.max() else { return }
        let top = topOfScreen
        let new = shownCount..<max(shownCount, last + 1)
        let places = shown[top...].indices.filter { isWider || changed.contains(shown[$0].index) }
        let missing = Set(changed).subtracting(shown[top...].map(\.index)).subtracting(new)
        let first = places.first ?? shown.count
        let rows = shown[first...].reduce(0) { $0 + self.rows($1.columns) }
        let indices = shown[first...].map(\.index) + missing.sorted() + new
        let texts = indices.map { ($0, line($0)) }
        shown.replaceSubrange(first..., with: texts.map { (index: $0, columns: $1?.columns ?? -1) })
        shownCount = new.upperBound
        (changed, isWider) = ([], false)
        let text = texts.compactMap { $1 }.map {
            $0.text(width: .max, inColour: presentation.isColouredOnTerminal) + "\n"
        }
        try StandardOutput.write((rows > 0 ? "\u{1B}[\(rows)A\u{1B}[J" : "") + text.joined())
    }

    /// Errors come last: the terminal may show both outputs, and a line between the others would move them.
    func finish() throws(ToolError) {
        try flush()
        for (_, error) in errors.sorted(by: { $0.key < $1.key }) { StandardError.write(error.message.escaped) }
    }

    private func line(_ index: Int) -> TerminalLine? {
        let (cells, mark): ([String], BoardMark)
        switch lines[index] {
        case .none: return nil
        case .pending: (cells, mark) = (["Pending"], .pending)
        case .known(let known, let status): (cells, mark) = (known, status)
        }
        var line = TerminalLine(labels[index])
        var end = max(labelWidth, line.columns)
        for (number, cell) in cells.enumerated() {
            let width = number < widths.count ? widths[number] : cell.columns
            if width == 0 { continue }
            if !cell.isEmpty {
                line.pad(to: end + 2)
                line.append(cell, number == 0 ? mark.colour : nil)
            }
            end += 2 + width
        }
        return line
    }

    /// The first of the shown lines that are still on the screen, with the cursor below the last one.
    private var topOfScreen: Int {
        var (top, rows) = (shown.count, 0)
        while top > 0 {
            rows += self.rows(shown[top - 1].columns)
            if rows >= size.height { break }
            top -= 1
        }
        return top
    }

    /// -1 columns: there is no line.
    private func rows(_ columns: Int) -> Int { columns < 0 ? 0 : max(1, (columns + size.width - 1) / size.width) }
}

/// Passes the state of each target to `report` as soon as it is known: at once, or when the name is looked up. At the
/// deadline a name is pending. `beforeWaiting`: no other state is known now. A target for which the kernel cannot be queried does not affect the others.
func reportFirstStates(
    of candidates: [Result<Target, ToolError>], until deadline: ContinuousClock.Instant,
    to report: (Int, Result<TargetState, ToolError>) throws(ToolError) -> Void,
    beforeWaiting: () throws(ToolError) -> Void = {}
) throws(ToolError) {
    let loop = try EventLoop()
    let changed = ChangedTargets()
    var waiting: [Int: Target] = [:]
    for (index, candidate) in candidates.enumerated() {
        let result = Result { () throws(ToolError) in
            let target = try candidate.get()
            let state = try target.state()
            guard state.status == .pending else { return state }
            target.onChange = { [changed] _ in changed.indices.insert(index) }
            try target.schedule(on: loop.runLoop)  // starts the look-up
            waiting[index] = target
            return state
        }
        if waiting[index] == nil { try report(index, result) }
    }
    while !waiting.isEmpty {
        try beforeWaiting()
        let isOver = try loop.next(until: deadline) == .timeout
        for index in isOver ? waiting.keys.sorted() : changed.takeAll() {
            guard let target = waiting[index] else { continue }
            let result = Result { () throws(ToolError) in try target.state() }
            if case .success(let state) = result, state.status == .pending, !isOver { continue }
            waiting[index] = nil
            try report(index, result)
        }
    }
}
