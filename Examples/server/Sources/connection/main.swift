// SPDX-License-Identifier: MIT

// Connects with TCP, and prints what happens to the connection on this machine: swift run connection 192.0.2.1 443

import Foundation
import NIOCore
import NIOPosix

func report(_ text: String) {
    print(text)
    fflush(nil)
}

/// What a program does with the events: here, it prints them. One with requests under way could begin no new ones on a
/// connection with a better path, and connect again.
final class Reporter: ChannelInboundHandler {
    typealias InboundIn = Any

    func channelActive(context: ChannelHandlerContext) {
        report("connected from \(context.localAddress?.ipAddress ?? "?")")
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as ConnectionEvent.ViabilityUpdate:
            report(event.isViable ? "viable" : "not viable: \(event.path)")
        case let event as ConnectionEvent.BetterPathAvailable:
            report("better path: \(event.path.interface?.name ?? "?")")
        case is ConnectionEvent.BetterPathUnavailable:
            report("no better path")
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        report("\(error)")
        context.close(promise: nil)
    }
}

func connect(to host: String, port: Int) async throws {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([ViabilityHandler(), Reporter()])
            }
        }
        .connect(host: host, port: port).get()
    try await channel.closeFuture.get()
    report("closed")
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let port = Int(arguments[2]) else { fatalError("usage: connection HOST PORT") }
try await connect(to: arguments[1], port: port)
