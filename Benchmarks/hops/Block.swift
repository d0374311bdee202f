// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Synchronization

extension Comparison {
    /// From a callback of the C library to an AFNetworkReachabilityManager's block on its delivery queue. The reference is
    /// one bare dispatch to a queue.
    static let block = Comparison(
        title: "callback to block",
        ours: { arrival in
            let manager = AFNetworkReachabilityManager(forDomain: "127.0.0.1")
            manager.deliveryQueue = DispatchQueue(label: "deliveries")
            manager.setReachabilityStatusChange { _ in arrival.record() }
            let session = manager.makeSession()
            let isReachable = Atomic(false)
            // What its callback does. Each status differs from the last, or nothing would be delivered.
            return Hop(
                send: {
                    let flags = isReachable.load(ordering: .relaxed) ? SCNetworkReachabilityFlags.reachable : []
                    isReachable.logicalXor(true, ordering: .relaxed)
                    session.receive(flags)
                },
                end: { withExtendedLifetime(manager) { session.end() } })
        },
        reference: { arrival in
            let queue = DispatchQueue(label: "deliveries")
            return Hop(send: { queue.async { arrival.record() } }, end: {})
        },
        referenceName: "one bare dispatch",
        threshold: 1.05)
}
