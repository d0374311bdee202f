// SPDX-License-Identifier: MIT

// Keeps a SwiftNIO channel to an address open while a packet can leave for it: swift run nio 192.0.2.1

import Foundation
import NIOCore
import NIOPosix
import NetworkReachability

/// A channel that is open while its address is reachable. The monitor, not a timer, decides when to connect again.
struct Uplink {
    let address: String
    let port: Int
    private var channel: (any Channel)?

    init(address: String, port: Int) {
        self.address = address
        self.port = port
    }

    mutating func update(for path: ReachabilityPath) async throws {
        if let channel, !path.isReachable {
            self.channel = nil
            try await channel.close()
            report("closed: \(path)")
        } else if channel == nil, path.isReachable {
            // A datagram channel connects without a server.
            channel = try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: address, port: port).get()
            report("open over \(path.interface?.name ?? "?")")
        }
    }

    private func report(_ text: String) {
        print(text)
        fflush(nil)
    }
}

func keepOpen(to address: String) async throws {
    var uplink = Uplink(address: address, port: 9)
    // The current path comes first, then each change. The loop ends when its task is cancelled.
    for await path in try ReachabilityMonitor(address: address) {
        try await uplink.update(for: path)
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 2 else { fatalError("usage: nio ADDRESS") }
try await keepOpen(to: arguments[1])
