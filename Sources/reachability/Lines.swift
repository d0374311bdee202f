// SPDX-License-Identifier: MIT

import FoundationEssentials

/// A line a state: for files, pipes and programs.
struct Lines: Display {
    enum Form {
        case text, textWithTime, json
    }

    var form: Form

    func show(_ target: Target, _ state: State) throws(Failure) {
        switch form {
        case .text: try Output.writeLine("\(target.text)  \(state.line)")
        case .textWithTime: try Output.writeLine("\(TimeOfDay.now.text)  \(target.text)  \(state.line)")
        case .json: try Output.writeLine(Record(target: target.text, time: Date(), state: state).json)
        }
    }

    func suspend() {}
    func redraw() {}
}
