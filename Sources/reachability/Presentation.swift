// SPDX-License-Identifier: MIT

import Glibc

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
