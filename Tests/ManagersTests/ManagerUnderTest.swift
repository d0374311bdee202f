// SPDX-License-Identifier: MIT

import AFNetworkReachability
import AlamofireReachability
import ClassicReachability
import Dispatch
import Testing

/// A manager of one of the modules, for tests that are the same for all of them. It ends when the last copy is
/// released.
protocol ManagerUnderTest: Sendable {
    /// Watches an address in the network namespace of the calling thread. `queue`: the queue of the deliveries, if the
    /// manager lets its user choose it.
    init(address: String, queue: DispatchQueue) throws
    /// The queue of the C library's callbacks.
    var callbackQueue: DispatchQueue { get }
    /// The queue that `onDelivery` is called on.
    var deliveryQueue: DispatchQueue { get }
    /// Calls `onDelivery` with each status: whether the address is reachable.
    func start(_ onDelivery: @escaping @Sendable (Bool) -> Void)
    func stop()
}

extension ManagerUnderTest {
    /// Waits until `onDelivery` has been called for all callbacks so far.
    func drainQueues() {
        // The callback queue twice: a session's own queue may target it.
        for queue in [callbackQueue, callbackQueue, deliveryQueue] { queue.sync {} }
    }
}

struct AFManager: ManagerUnderTest {
    private let manager: AFNetworkReachabilityManager
    var callbackQueue: DispatchQueue { AFNetworkReachabilityManager.callbackQueue }
    var deliveryQueue: DispatchQueue { manager.deliveryQueue }

    init(address: String, queue: DispatchQueue) {
        manager = AFNetworkReachabilityManager(forDomain: address)
        manager.deliveryQueue = queue
    }

    func start(_ onDelivery: @escaping @Sendable (Bool) -> Void) {
        // The status is set before the block is called.
        manager.setReachabilityStatusChange { [weak manager] _ in onDelivery(manager?.isReachable == true) }
        manager.startMonitoring()
    }

    func stop() { manager.stopMonitoring() }
}

struct AlamofireManager: ManagerUnderTest {
    private let manager: NetworkReachabilityManager
    var callbackQueue: DispatchQueue { manager.reachabilityQueue }
    let deliveryQueue: DispatchQueue

    init(address: String, queue: DispatchQueue) throws {
        manager = try #require(NetworkReachabilityManager(host: address))
        deliveryQueue = queue
    }

    func start(_ onDelivery: @escaping @Sendable (Bool) -> Void) {
        manager.startListening(onQueue: deliveryQueue) { onDelivery($0 != .notReachable) }
    }

    func stop() { manager.stopListening() }
}

struct ClassicManager: ManagerUnderTest {
    private let reachability: Reachability
    var callbackQueue: DispatchQueue { reachability.callbackQueue }
    /// The user chooses only the queue of the notifications, not that of the blocks.
    var deliveryQueue: DispatchQueue { reachability.callbackQueue }

    init(address: String, queue: DispatchQueue) throws {
        reachability = try #require(Reachability(hostName: address))
        reachability.notificationQueue = queue
    }

    func start(_ onDelivery: @escaping @Sendable (Bool) -> Void) {
        reachability.reachabilityBlock = { onDelivery($1.contains(.reachable)) }
        reachability.startNotifier()
    }

    func stop() { reachability.stopNotifier() }
}
