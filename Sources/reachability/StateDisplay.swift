// SPDX-License-Identifier: MIT

import Glibc

/// Shows the states of targets.
protocol StateDisplay {
    func show(_ target: Target, _ state: TargetState) throws(ToolError)
    /// The next state may come late.
    func flush() throws(ToolError)
    /// Obeys keys. Returns false if the user wants to leave.
    func obey(_ keys: String) throws(ToolError) -> Bool
    /// Restores the terminal: before the process stops, or ends for an error.
    func suspend() throws(ToolError)
    /// Shows everything again: after a stop, or when the terminal has a new size.
    func redraw() throws(ToolError)
    /// Restores the terminal, and prints what should remain.
    func finish() throws(ToolError)
}

extension StateDisplay {
    func flush() {}
    func obey(_ keys: String) -> Bool { true }
    func suspend() {}
    func redraw() {}
    func finish() {}
}

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
            return try JSONRecord(target: target.text, time: LocalTime.universalText, state: state).json
        case .tsv:
            let fields =
                [target.text.escaped] + state.fields(presentation) + [LocalTime.now.text, state.destinationField]
            return fields.joined(separator: "\t")
        }
    }
}

/// How states are printed.
struct Presentation {
    enum Format: String, CaseIterable {
        case text, json, tsv
    }

    enum ColourChoice: String, CaseIterable {
        case auto, always, never
    }

    var format = Format.text
    var colours = ColourChoice.auto
    /// Flags in the words of Apple's tool, with blanks inside, instead of columns and names.
    var hasFlagText = false

    /// Whether a display on a terminal is coloured: https://no-color.org
    var isColouredOnTerminal: Bool {
        switch colours {
        case .always: true
        case .never: false
        case .auto: getenv("NO_COLOR").map { $0[0] == 0 } ?? true
        }
    }

    /// Whether lines are coloured: they may go into a file, or to a program.
    var isColouredInLines: Bool { colours == .always }
}
