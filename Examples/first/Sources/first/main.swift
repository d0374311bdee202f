// SPDX-License-Identifier: MIT

// Prints the path to a host, and each change, until it is interrupted: swift run first example.com

import Dispatch
import Glibc
import NetworkReachability

let monitor = try ReachabilityMonitor(host: CommandLine.arguments.dropFirst().first ?? "localhost")
let observation = monitor.observe { path in
    print(path)
    fflush(nil)  // into a pipe, print(_:) writes only when its buffer is full
}
dispatchMain()
