// SPDX-License-Identifier: MIT

import FoundationEssentials

/// Prints a line for each state: for files, pipes and programs.
struct LineDisplay: StateDisplay {
    enum Form {
        case text, textWithTime, json
    }

    var form: Form

    func show(_ target: Target, _ state: TargetState) throws(ToolError) {
        switch form {
        case .text: try StandardOutput.writeLine("\(target.label)  \(state.line)")
        case .textWithTime: try StandardOutput.writeLine("\(LocalTime.now.text)  \(target.label)  \(state.line)")
        case .json: try StandardOutput.writeLine(JSONRecord(target: target.text, time: Date(), state: state).json)
        }
    }
}
