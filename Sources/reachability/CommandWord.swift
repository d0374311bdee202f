// SPDX-License-Identifier: MIT

/// A command's name. The first argument is a command if it is one of these words. All other words are hosts.
enum CommandWord: String, CaseIterable {
    case check, watch, wait, connections, help

    /// `reachability --json watch`: a command after options. It would be looked up as a host.
    static func flaw(in arguments: [String]) -> String? {
        guard let first = firstWord(of: arguments), first != arguments.first, let word = CommandWord(rawValue: first)
        else { return nil }
        return "the command comes first: reachability \(word) ..."
    }

    /// What may be meant if the look-up of a name fails: the first word stands where a command can stand.
    static func hint(for failed: [String], in arguments: [String]) -> String? {
        guard let first = firstWord(of: arguments), failed.contains(first), let word = CommandWord(near: first) else {
            return nil
        }
        return "'\(first.escaped)' is not a command either; did you mean 'reachability \(word)'?"
    }

    /// The options of `check` after which a word is a value.
    private static let valued: Set = [
        "--interface", "--source", "--tcp", "--udp", "--mark", "--timeout", "--file", "--netns",
        "--format", "--color",
    ]

    /// The first argument that is neither an option nor its value. nil: there is none before `--`.
    private static func firstWord(of arguments: [String]) -> String? {
        var isValue = false
        return arguments.prefix { $0 != "--" }.first { argument in
            defer { isValue = valued.contains(argument) }
            return !isValue && !argument.hasPrefix("-")
        }
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
