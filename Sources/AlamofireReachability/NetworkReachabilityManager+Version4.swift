// SPDX-License-Identifier: MIT

// The spelling of Alamofire 4.

#if os(Linux)
public import Dispatch
internal import ReachabilitySupport
internal import Synchronization

struct Version4State {
    var listener: NetworkReachabilityManager.Listener?
    var queue: DispatchQueue? = .main
}

extension NetworkReachabilityManager {
    /// The status now. In version 5: `status`.
    public var networkReachabilityStatus: NetworkReachabilityStatus { status }

    /// In version 5: `isReachableOnCellular`.
    public var isReachableOnWWAN: Bool { isReachableOnCellular }

    /// The closure that is called after `startListening()`. It may be set at any time. nil: there is none.
    @preconcurrency
    public var listener: (@Sendable (NetworkReachabilityStatus) -> Void)? {
        get { version4.withLock(\.listener) }
        set { version4.set(\.listener, to: newValue) }
    }

    /// The queue of `listener`, from the next `startListening()` on. If it is nil, `startListening()` returns false.
    public var listenerQueue: DispatchQueue? {
        get { version4.withLock(\.queue) }
        set { version4.withLock { $0.queue = newValue } }
    }

    /// Calls `listener` with the current status, also if that is `notReachable`, and then with every change.
    ///
    /// - Returns: like `startListening(onQueue:onUpdatePerforming:)`; also false if `listenerQueue` is nil.
    @discardableResult
    public func startListening() -> Bool {
        guard let queue = listenerQueue else { return false }
        return start(on: queue) { manager, status in manager.listener?(status) }
    }
}
#endif
