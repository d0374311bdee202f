// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

typealias Told = Recorder<AFNetworkReachabilityStatus>

extension Namespace {
    /// A manager for a host in here; without one, for the default path. It delivers on a queue of its own.
    func manager(_ host: String? = nil) throws -> AFNetworkReachabilityManager {
        let manager = try inside {
            if let host { AFNetworkReachabilityManager(forDomain: host) } else { AFNetworkReachabilityManager() }
        }
        manager.deliveryQueue = DispatchQueue(label: "deliveries of a test")
        return manager
    }
}

extension AFNetworkReachabilityManager {
    /// From now on what its block is called with is recorded.
    func record() -> Told {
        let statuses = Told()
        setReachabilityStatusChange { statuses.record($0) }
        return statuses
    }

    /// Waits for all that the manager has been told to be delivered.
    func settle() {
        AFNetworkReachabilityManager.arrivals.sync {}
        deliveryQueue.sync(flags: .barrier) {}
    }
}
