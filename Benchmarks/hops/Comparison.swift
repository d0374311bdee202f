// SPDX-License-Identifier: MIT

import Glibc

/// Compares our hop with the bare hop inside it. Blocks of both alternate, each pair of blocks gives one ratio, and the
/// median ratio must not exceed the threshold. Absolute times vary too much on shared machines.
struct Comparison: Sendable {
    var title: String
    var ours: @Sendable (Arrival) -> Hop
    var reference: @Sendable (Arrival) -> Hop
    var referenceName: String
    var threshold: Double

    /// Prints a line, as bench_report in bench.c does. Returns whether the ratio is within the threshold.
    func run(isShort: Bool) -> Bool {
        let arrivals = (ours: Arrival(), reference: Arrival())
        let hops = (ours: ours(arrivals.ours), reference: reference(arrivals.reference))
        defer {
            hops.ours.end()
            hops.reference.end()
        }
        var times: (ours: [Double], reference: [Double]) = ([], [])
        for _ in 0..<(isShort ? 5 : 41) {
            times.reference.append(block(hops.reference, arrivals.reference, isShort))
            times.ours.append(block(hops.ours, arrivals.ours, isShort))
        }
        let ratio = median(zip(times.ours, times.reference).map { $0 / $1 })
        let isWithin = ratio <= threshold
        print(
            padded(title, 44), "", time(times.ours), "", padded(referenceName, 36), "", time(times.reference),
            " ratio \(fixed(ratio, 3)) (at most \(fixed(threshold, 2))) \(isWithin ? "ok" : "OVER")")
        return isWithin
    }

    private func block(_ hop: Hop, _ arrival: Arrival, _ isShort: Bool) -> Double {
        median(
            (0..<(isShort ? 50 : 300)).map { _ in
                // Real changes are rare: let the receiver go back to sleep.
                let pause = now() + 20_000
                while now() < pause {}
                return arrival.time(of: hop.send)
            })
    }

    private func time(_ values: [Double]) -> String {
        let text = fixed(median(values) / 1000, 2)
        return String(repeating: " ", count: max(9 - text.count, 0)) + text + " us"
    }
}

private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.count, 0))
}

private func fixed(_ value: Double, _ digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let number = Int((value * Double(scale)).rounded())
    let fraction = String(number % scale)
    return "\(number / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
}
