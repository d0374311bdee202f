// SPDX-License-Identifier: MIT

import AFNetworkReachability
import Foundation
import TestSupport
import Testing

typealias StatusRecorder = Recorder<AFNetworkReachabilityStatus>

extension Namespace {
    /// Makes a manager of a host, or with nil of the default path, in this namespace. It has its own delivery queue.
    func makeManager(_ host: String? = nil) throws -> AFNetworkReachabilityManager {
        let manager = try inside {
            if let host { AFNetworkReachabilityManager(forDomain: host) } else { AFNetworkReachabilityManager() }
        }
        manager.deliveryQueue = DispatchQueue(label: "deliveries of a test")
        return manager
    }
}

extension AFNetworkReachabilityManager {
    /// Sets a block that records its statuses.
    func recordStatuses() -> StatusRecorder {
        let statuses = StatusRecorder()
        setReachabilityStatusChange { statuses.record($0) }
        return statuses
    }

    /// Waits for the deliveries of all callbacks so far.
    func drainQueues() {
        AFNetworkReachabilityManager.callbackQueue.sync {}
        deliveryQueue.sync(flags: .barrier) {}
    }
}
