// SPDX-License-Identifier: MIT

extension String {
    /// The text for a terminal or a log. Control characters and backslashes are escaped, as in the library's
    /// descriptions: `\n`, `\r`, `\t`, `\\`, otherwise `\xNN` for each byte in UTF-8.
    var escaped: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": text += #"\n"#
            case "\r": text += #"\r"#
            case "\t": text += #"\t"#
            case "\\": text += #"\\"#
            case "\0"..<" ", "\u{7F}"..."\u{9F}":
                for byte in String(scalar).utf8 { text += #"\x"# + padded(Int(byte), to: 2, radix: 16) }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
