// SPDX-License-Identifier: MIT

import Glibc

/// Measures what our Swift modules add to the hop from a callback to the user's code.
@main
enum Main {
    private static let comparisons = [Comparison.sequence, .block, .handler]

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.isEmpty || arguments.elementsEqual(["--short"]) else {
            print("usage: \(CommandLine.arguments[0]) [--short]")
            exit(64)
        }
        let isShort = !arguments.isEmpty || getenv("BENCH_SHORT").map { $0[0] != 0 } ?? false
        let areWithin = comparisons.map { $0.run(isShort: isShort) }
        exit(isShort || areWithin.allSatisfy { $0 } ? 0 : 1)
    }
}
