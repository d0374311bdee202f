// SPDX-License-Identifier: MIT

// The spelling of Alamofire 4.

#if os(Linux)
public import Dispatch
internal import ReachabilitySupport
internal import Synchronization

struct Legacy {
    var listener: NetworkReachabilityManager.Listener?
    var queue: DispatchQueue? = .main
}

extension NetworkReachabilityManager {
    /// The status now; version 5 calls it `status`.
    public var networkReachabilityStatus: NetworkReachabilityStatus { status }

    /// Version 5 calls it `isReachableOnCellular`.
    public var isReachableOnWWAN: Bool { isReachableOnCellular }

    /// Who is told after `startListening()`. May be set at any time; nil: nobody.
    @preconcurrency
    public var listener: (@Sendable (NetworkReachabilityStatus) -> Void)? {
        get { legacy.withLock(\.listener) }
        set { legacy.set(\.listener, to: newValue) }
    }

    /// Where `listener` is called after the next `startListening()`. Without one, that answers false.
    public var listenerQueue: DispatchQueue? {
        get { legacy.withLock(\.queue) }
        set { legacy.withLock { $0.queue = newValue } }
    }

    /// Tells `listener`: of the status as it is, offline too, and then whenever it changes.
    ///
    /// - Returns: as `startListening(onQueue:onUpdatePerforming:)`; false also if there is no `listenerQueue`.
    @discardableResult
    public func startListening() -> Bool {
        guard let queue = listenerQueue else { return false }
        return start(on: queue) { manager, status in manager.listener?(status) }
    }
}
#endif
