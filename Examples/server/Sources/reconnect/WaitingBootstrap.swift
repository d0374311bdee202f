// SPDX-License-Identifier: MIT

import NIOCore
import NIOPosix
import NetworkReachability

/// Connects when it is worth an attempt, and not only when the back-off is over.
///
/// The first attempt is made at once. Others follow after pauses that double, or when the way to the host has changed. No
/// attempt is held back. One over a way that is gone would last until the time-out of the bootstrap, so a change gives it
/// up, and the next one begins at once.
struct WaitingBootstrap {
    /// What ends a pause: the time, or a change. For a test, also something else.
    typealias Sleep = @Sendable (Duration) async throws -> ReachabilityWake

    private enum Event: Sendable {
        case connected(any Channel)
        case failed
        case changed
    }

    let bootstrap: ClientBootstrap
    let sleep: Sleep
    var shortestPause = Duration.seconds(1)
    var longestPause = Duration.seconds(120)

    init(_ bootstrap: ClientBootstrap, timer: ReachabilityRetryTimer) {
        self.init(bootstrap) { try await timer.sleep(for: $0) }
    }

    init(_ bootstrap: ClientBootstrap, sleep: @escaping Sleep) {
        self.bootstrap = bootstrap
        self.sleep = sleep
    }

    /// Returns when connected. Throws only what the sleep throws: `CancellationError`, or that the monitor is cancelled.
    func connect(to address: SocketAddress) async throws -> any Channel {
        var pause = shortestPause
        while true {
            switch try await attempt(address) {
            case .connected(let channel): return channel
            case .changed: pause = shortestPause
            case .failed: pause = try await sleep(pause) == .time ? min(pause * 2, longestPause) : shortestPause
            }
        }
    }

    private func attempt(_ address: SocketAddress) async throws -> Event {
        let (events, source) = AsyncStream<Event>.makeStream()
        let future = bootstrap.connect(to: address)
        future.whenComplete { result in
            source.yield((try? result.get()).map(Event.connected) ?? .failed)
        }
        let change = Task { [sleep] in
            while try await sleep(.seconds(1_000_000)) == .time {}
            source.yield(.changed)
        }
        var iterator = events.makeAsyncIterator()
        let event = await iterator.next()
        change.cancel()
        // What the change's sleep has taken is not lost.
        let isChanged = (try? await change.value) != nil
        if case .connected? = event { return event! }
        future.whenSuccess { $0.close(promise: nil) }
        try Task.checkCancellation()
        return isChanged ? .changed : .failed
    }
}
