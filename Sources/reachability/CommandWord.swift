// SPDX-License-Identifier: MIT

/// A command's name, and the words that are probably meant as one.
///
/// `reachability TARGET` is `reachability check TARGET`. So a misspelt command looks like the name of a host, and would
/// be looked up.
enum CommandWord: String, CaseIterable {
    case check, watch, wait, connections, help

    /// What is wrong with arguments that begin with no command, or nil.
    static func flaw(in arguments: [String]) -> String? {
        guard let first = arguments.first, CommandWord(rawValue: first) == nil else { return nil }
        if !first.hasPrefix("-"), let word = CommandWord(near: first) {
            let target = first.escaped
            return "'\(target)' is not a command; did you mean '\(word)'? "
                + "For a host of this name: reachability check \(target)"
        }
        if let word = misplaced(in: arguments) { return "the command comes first: reachability \(word) ..." }
        return nil
    }

    /// The options of `check` after which a word is a value.
    private static let valued: Set = [
        "--interface", "--source", "--tcp", "--udp", "--mark", "--timeout", "--file", "--netns",
        "--format", "--color",
    ]

    /// `reachability --json watch`
    private static func misplaced(in arguments: [String]) -> CommandWord? {
        let words = arguments.prefix { $0 != "--" }
        return zip(words, words.dropFirst()).lazy.compactMap { previous, word in
            valued.contains(previous) ? nil : CommandWord(rawValue: word)
        }.first
    }

    private init?(near text: String) {
        guard !text.contains(".") else { return nil }
        let words = CommandWord.allCases.map { ($0, editDistance($0.rawValue, text.lowercased())) }
        guard let nearest = words.min(by: { $0.1 < $1.1 }), nearest.1 <= 2 else { return nil }
        self = nearest.0
    }
}

/// How many characters must be inserted, deleted or replaced to make one text of the other.
private func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for column in right.indices {
            let replaced = diagonal + (character == right[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
        }
    }
    return row[right.count]
}
