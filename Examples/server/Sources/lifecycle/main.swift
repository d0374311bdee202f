// SPDX-License-Identifier: MIT

// Watches a host as a service of a ServiceGroup, until SIGTERM or SIGINT: swift run lifecycle example.com

import Logging
import NetworkReachability
import ServiceLifecycle

/// Logs the path to a host and each change.
struct ReachabilityService: Service {
    let host: String
    let logger: Logger

    func run() async throws {
        let monitor = try ReachabilityMonitor(host: host)
        // At a graceful shutdown the sequence ends, and with it the watch.
        for await path in monitor.cancelOnGracefulShutdown() {
            logger.notice(
                "\(path.isReachable ? "reachable" : "not reachable")",
                metadata: [
                    "host": "\(host)", "reason": "\(path.reason?.description ?? "-")",
                    "interface": "\(path.interface?.name ?? "-")",
                ])
        }
        logger.notice("stopped")
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 2 else { fatalError("usage: lifecycle HOST") }
let logger = Logger(label: "reachability")
let group = ServiceGroup(
    services: [ReachabilityService(host: arguments[1], logger: logger)],
    gracefulShutdownSignals: [.sigterm, .sigint],
    logger: logger)
try await group.run()
