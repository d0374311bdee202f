// SPDX-License-Identifier: MIT

import ReachabilityArguments

/// The arguments of the process, without its name.
enum Arguments {
    static var all: [String] {
        var count: Int32 = 0
        guard let values = reachability_arguments(&count) else { return [] }
        return (0..<Int(count)).dropFirst().compactMap { index in values[index].map { String(cString: $0) } }
    }

    /// The variables of the environment.
    static var environment: [String: String] {
        var result: [String: String] = [:]
        guard var entry = reachability_environment() else { return result }
        while let text = entry.pointee.map({ String(cString: $0) }) {
            if let equals = text.firstIndex(of: "=") {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry += 1
        }
        return result
    }
}
