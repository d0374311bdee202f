// SPDX-License-Identifier: MIT

/// Prints a line for each state: for files, pipes and programs.
struct LineDisplay: StateDisplay {
    var presentation: Presentation
    /// Whether a line of text begins with the time. The other formats always have it.
    var hasTime = false

    func show(_ target: Target, _ state: TargetState) throws(ToolError) {
        try StandardOutput.writeLine(try line(target, state))
    }

    private func line(_ target: Target, _ state: TargetState) throws(ToolError) -> String {
        switch presentation.format {
        case .text:
            let text = presentation.isColouredInLines ? state.colouredLine : state.line
            return (hasTime ? "\(LocalTime.now.text)  " : "") + "\(target.label)  \(text)"
        case .json:
            let time = LocalTime.universalText
            return try JSONRecord(target: target.text, time: time, state: state, addresses: target.addresses).json
        case .tsv:
            return ([target.text.escaped] + state.fields(presentation) + [LocalTime.now.text]).joined(separator: "\t")
        }
    }
}
