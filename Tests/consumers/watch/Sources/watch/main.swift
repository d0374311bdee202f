// SPDX-License-Identifier: MIT
// watch ADDRESS CHANGES prints the flags of an address, and those after each change.

import NetworkReachability

var left = Int(CommandLine.arguments[2]) ?? 0
for await path in try ReachabilityMonitor(address: CommandLine.arguments[1]) {
    let digits = String(path.flags.rawValue, radix: 16)
    print("0x" + String(repeating: "0", count: 8 - digits.count) + digits)
    if left == 0 { break }
    left -= 1
}
