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
