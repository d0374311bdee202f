// SPDX-License-Identifier: MIT

#if Tool
import ReachabilityArguments

/// The arguments of the process, without its name.
enum Arguments {
    static var all: [String] {
        var count: Int32 = 0
        guard let values = reachability_arguments(&count) else { return [] }
        return (0..<Int(count)).dropFirst().compactMap { index in values[index].map { String(cString: $0) } }
    }
}
#endif
