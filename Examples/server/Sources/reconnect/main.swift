// SPDX-License-Identifier: MIT

// A client of an echo server, for WaitingBootstrap: swift run reconnect ours|stock ADDRESS PORT connects, and prints when the
// server has replied. stock has the same pauses, in a sleep that only time ends.

import Foundation
import NIOCore
import NIOPosix
import NetworkReachability

func report(_ what: String) {
    print(what, DispatchTime.now().uptimeNanoseconds)
    fflush(nil)
}

/// Sends a line, and completes the promise at the reply.
final class Exchange: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let reply: EventLoopPromise<Void>

    init(_ reply: EventLoopPromise<Void>) {
        self.reply = reply
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(ByteBuffer(string: "hello")), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        reply.succeed()
    }
}

func exchange(mode: String, with address: SocketAddress, of host: String) async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let reply = group.any().makePromise(of: Void.self)
    let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
        channel.pipeline.addHandler(Exchange(reply))
    }
    let waiting =
        if mode == "ours" {
            WaitingBootstrap(bootstrap, timer: ReachabilityRetryTimer(try ReachabilityMonitor(address: host)))
        } else {
            WaitingBootstrap(bootstrap) { pause in
                try await Task.sleep(for: pause)
                return .time
            }
        }
    report("first")
    let channel = try await waiting.connect(to: address)
    try await reply.futureResult.get()
    report("done")
    try await channel.close()
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let port = Int(arguments[3]) else { fatalError("usage: reconnect ours|stock ADDRESS PORT") }
try await exchange(
    mode: arguments[1], with: SocketAddress(ipAddress: arguments[2], port: port), of: arguments[2])
