// SPDX-License-Identifier: MIT

import SCReachability
import Synchronization

/// What callbacks told, to be awaited; and a context's hooks, counted.
final class Witness: Sendable {
    private let calls: AsyncStream<SCNetworkReachabilityFlags>
    private let call: AsyncStream<SCNetworkReachabilityFlags>.Continuation
    private let hooks = Mutex((retains: 0, releases: 0))
    private let onCall: @Sendable (SCNetworkReachability) -> Void

    var retains: Int { hooks.withLock(\.retains) }
    var releases: Int { hooks.withLock(\.releases) }

    init(onCall: @escaping @Sendable (SCNetworkReachability) -> Void = { _ in }) {
        (calls, call) = AsyncStream.makeStream(of: SCNetworkReachabilityFlags.self)
        self.onCall = onCall
    }

    /// Waits for the next call.
    func next() async -> SCNetworkReachabilityFlags? {
        for await flags in calls { return flags }
        return nil
    }

    /// How many calls came that nobody has waited for.
    func end() async -> Int {
        call.finish()
        return await calls.reduce(0) { count, _ in count + 1 }
    }

    /// Makes itself the target's callback.
    func observe(_ target: SCNetworkReachability) -> Bool {
        var context = SCNetworkReachabilityContext(
            version: 0,
            info: Unmanaged.passUnretained(self).toOpaque(),
            retain: { info in
                let witness = Unmanaged<Witness>.fromOpaque(info).retain()
                witness.takeUnretainedValue().hooks.withLock { $0.retains += 1 }
                return info
            },
            release: { info in
                let witness = Unmanaged<Witness>.fromOpaque(info)
                witness.takeUnretainedValue().hooks.withLock { $0.releases += 1 }
                witness.release()
            },
            copyDescription: { _ in Unmanaged.passRetained("a witness" as CFString) })
        return SCNetworkReachabilitySetCallback(
            target,
            { target, flags, info in
                let witness = Unmanaged<Witness>.fromOpaque(info!).takeUnretainedValue()
                witness.onCall(target)
                witness.call.yield(flags)
            }, &context)
    }
}
