// SPDX-License-Identifier: MIT

import NIOCore
import NetworkReachability

/// User events about the packets of a channel's connection. NIOTransportServices has such events on Apple's systems.
enum ConnectionEvent {
    /// Whether packets of the connection can leave, and with an address of the interface that they leave over. If not, the
    /// connection hangs. It may be viable again later.
    struct ViabilityUpdate: Sendable {
        let isViable: Bool
        let path: ReachabilityPath
    }

    /// A new connection would leave over another interface. This one still works if it is viable.
    struct BetterPathAvailable: Sendable {
        let path: ReachabilityPath
    }

    /// The connection leaves as a new one would.
    struct BetterPathUnavailable: Sendable {
        let path: ReachabilityPath
    }
}

/// The local address of the connection is gone. TCP would not report this for a quarter of an hour.
struct ConnectionSourceLost: Error {}

/// Fires a `ConnectionEvent` when it changes whether the connection of the channel is viable, or has a better path. A
/// connection whose local address is gone can reach nobody: the handler fires the error `ConnectionSourceLost`, and closes it.
///
/// It says nothing about the other end: no packet is sent. A new connection counts as viable and without a better path until the
/// first event, which comes at once if that is not true.
final class ViabilityHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any  // nothing is unwrapped

    private var observation: ReachabilityObservation?
    private var isViable = true
    private var hasBetterPath = false

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { observe(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        observe(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        observation = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        observation = nil
    }

    private func observe(_ context: ChannelHandlerContext) {
        guard observation == nil else { return }
        do {
            let socket = NIOBSDSocket.Handle.self
            guard
                let monitor = try context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                    of: socket, { try ReachabilityMonitor(socket: $0) })
            else { return }  // no socket: an embedded channel
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            observation = monitor.observe { path in
                bound.eventLoop.execute { bound.value.0.update(path, bound.value.1) }
            }
        } catch {
            context.fireErrorCaught(error)
        }
    }

    private func update(_ path: ReachabilityPath, _ context: ChannelHandlerContext) {
        guard observation != nil else { return }  // the channel is closed, or the handler removed
        if path.isViable != isViable {
            isViable = path.isViable
            context.fireUserInboundEventTriggered(ConnectionEvent.ViabilityUpdate(isViable: isViable, path: path))
        }
        if path.flow.contains(.betterPath) != hasBetterPath {
            hasBetterPath.toggle()
            let event: any Sendable =
                hasBetterPath
                ? ConnectionEvent.BetterPathAvailable(path: path) : ConnectionEvent.BetterPathUnavailable(path: path)
            context.fireUserInboundEventTriggered(event)
        }
        if path.reason == .localAddressNotAssigned {
            observation = nil
            context.fireErrorCaught(ConnectionSourceLost())
            context.close(promise: nil)
        }
    }
}
