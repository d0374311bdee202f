// SPDX-License-Identifier: MIT

import AFNetworkReachability
import AlamofireReachability
import ClassicReachability
import Dispatch
import Testing

struct AFManager: Subject {
    private let manager: AFNetworkReachabilityManager
    var arrivals: DispatchQueue { AFNetworkReachabilityManager.arrivals }
    var deliveries: DispatchQueue { manager.deliveryQueue }

    init(address: String, queue: DispatchQueue) {
        manager = AFNetworkReachabilityManager(forDomain: address)
        manager.deliveryQueue = queue
    }

    func start(_ tell: @escaping @Sendable (Bool) -> Void) {
        // What is told is set before.
        manager.setReachabilityStatusChange { [weak manager] _ in tell(manager?.isReachable == true) }
        manager.startMonitoring()
    }

    func stop() { manager.stopMonitoring() }
}

struct AlamofireManager: Subject {
    private let manager: NetworkReachabilityManager
    let deliveries: DispatchQueue
    var arrivals: DispatchQueue { manager.reachabilityQueue }

    init(address: String, queue: DispatchQueue) throws {
        manager = try #require(NetworkReachabilityManager(host: address))
        deliveries = queue
    }

    func start(_ tell: @escaping @Sendable (Bool) -> Void) {
        manager.startListening(onQueue: deliveries) { tell($0 != .notReachable) }
    }

    func stop() { manager.stopListening() }
}

struct ClassicManager: Subject {
    private let reachability: Reachability
    var arrivals: DispatchQueue { reachability.queue }
    /// Blocks are not called on a queue of the user's.
    var deliveries: DispatchQueue { reachability.queue }

    init(address: String, queue: DispatchQueue) throws {
        reachability = try #require(Reachability(hostName: address))
        reachability.notificationQueue = queue
    }

    func start(_ tell: @escaping @Sendable (Bool) -> Void) {
        reachability.reachabilityBlock = { tell($1.contains(.reachable)) }
        reachability.startNotifier()
    }

    func stop() { reachability.stopNotifier() }
}
