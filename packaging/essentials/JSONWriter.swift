// SPDX-License-Identifier: MIT

/// The text of a JSON value.
struct JSONWriter {
    private let isPretty: Bool
    private let escapesSlashes: Bool

    init(_ formatting: JSONEncoder.OutputFormatting) {
        isPretty = formatting.contains(.prettyPrinted)
        escapesSlashes = !formatting.contains(.withoutEscapingSlashes)
    }

    func text(of node: JSONNode, depth: Int = 0) -> String {
        switch node.value {
        case .literal(let text): return text
        case .string(let text): return quoted(text)
        case .array(let nodes): return list("[", nodes.map { text(of: $0, depth: depth + 1) }, "]", depth)
        case .object(let nodes):
            let sorted = nodes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let colon = isPretty ? " : " : ":"
            return list("{", sorted.map { quoted($0.key) + colon + text(of: $0.value, depth: depth + 1) }, "}", depth)
        }
    }

    private func list(_ opening: String, _ items: [String], _ closing: String, _ depth: Int) -> String {
        guard isPretty else { return opening + items.joined(separator: ",") + closing }
        let indent = String(repeating: "  ", count: depth)
        return "\(opening)\n" + items.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)\(closing)"
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += #"\""#
            case "\\": result += #"\\"#
            case "/" where escapesSlashes: result += #"\/"#
            case "\u{8}": result += #"\b"#
            case "\u{C}": result += #"\f"#
            case "\n": result += #"\n"#
            case "\r": result += #"\r"#
            case "\t": result += #"\t"#
            case ..<" ":
                let digits = String(scalar.value, radix: 16)
                result += #"\u"# + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
