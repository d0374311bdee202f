// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch
public import SCReachability
internal import Synchronization

/// Reports whether a host or the default path is reachable, and notifies a listener of changes.
///
/// `status` and the properties that follow from it are queried when they are read, and need no start. A start calls the
/// listener with the current status, and then with every change. A manager stops when its last reference is released.
/// Every method is safe on any thread.
open class NetworkReachabilityManager: @unchecked Sendable {
    // Unchecked Sendable: the mutex of `version4` guards it, and the other properties are constants. The mutex is never
    // held while other code runs.

    /// Whether a packet can leave for the target, and over which type of interface. That does not mean that the target
    /// responds.
    public enum NetworkReachabilityStatus: Equatable, Sendable {
        /// The kernel could not be queried.
        case unknown
        /// The target is not reachable.
        case notReachable
        /// The target is reachable over such an interface.
        case reachable(ConnectionType)

        /// What packets leave over.
        public enum ConnectionType: Sendable {
            /// Any interface that is not cellular.
            case ethernetOrWiFi
            /// A cellular interface.
            case cellular

            /// The name in Alamofire 4.
            @available(*, deprecated, renamed: "cellular")
            public static let wwan = ConnectionType.cellular
        }

        package init(_ flags: SCNetworkReachabilityFlags) {
            self =
                if flags.isUsable {
                    .reachable(flags.contains(.isWWAN) ? .cellular : .ethernetOrWiFi)
                } else {
                    .notReachable
                }
        }
    }

    /// What packets leave over.
    public typealias ConnectionType = NetworkReachabilityStatus.ConnectionType
    /// Called on the queue that was passed to the start.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The process's shared manager of the default path. It is created when it is first read, and is not started.
    public static let `default` = NetworkReachabilityManager()

    /// The queue of the C library's callbacks. From here, changes go to the listener's queue.
    public let reachabilityQueue = DispatchQueue(label: "org.alamofire.reachabilityQueue")

    private let watcher: TargetWatcher
    let version4 = Mutex(Version4State())

    /// The default path: whether the machine has a working default route, for IPv4 or IPv6. nil: the kernel cannot be
    /// queried; `SCError()` returns the cause.
    public convenience init?() {
        self.init(target: Targets.defaultPath())
    }

    /// A host, by its name or by an address literal. nil: the text is not a host name (it is empty, longer than 1024
    /// bytes, or contains a scheme, a slash, white space or a NUL), or the kernel cannot be queried.
    public convenience init?(host: String) {
        self.init(target: Targets.host(host))
    }

    private init?(target: SCNetworkReachability?) {
        guard let target else { return nil }
        watcher = TargetWatcher(target, queue: reachabilityQueue)
    }

    /// The flags now. While the manager listens, they are those of the last evaluation; otherwise this queries the
    /// kernel. nil: the query failed.
    open var flags: SCNetworkReachabilityFlags? { watcher.target?.flags }

    /// The status now, from `flags`.
    open var status: NetworkReachabilityStatus { flags.map(NetworkReachabilityStatus.init) ?? .unknown }

    /// Whether the target is reachable, over any interface.
    open var isReachable: Bool {
        if case .reachable = status { true } else { false }
    }

    /// Whether the target is reachable over a cellular interface.
    open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    /// Whether the target is reachable over an interface that is not cellular.
    open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Calls `listener` on `queue` with the current status, and then with every change. An earlier start ends.
    ///
    /// - Returns: false, and the cause in `SCError()`, if the target cannot be watched. True if another thread is
    ///   starting or stopping this manager: that thread then also does this start.
    @preconcurrency
    @discardableResult
    open func startListening(
        onQueue queue: DispatchQueue = .main,
        onUpdatePerforming listener: @escaping @Sendable (NetworkReachabilityStatus) -> Void
    ) -> Bool {
        start(on: queue) { _, status in listener(status) }
    }

    /// Stops listening, and drops queued calls of the listener.
    ///
    /// If you call this on the listener's queue, the listener is not called after it returns. If you call it elsewhere,
    /// a call of the listener that has begun may finish later, and no other begins.
    open func stopListening() {
        watcher.stop()
    }

    /// The start of both versions. `listener` is not called after the manager has ended.
    func start(
        on queue: DispatchQueue,
        _ listener: @escaping @Sendable (NetworkReachabilityManager, NetworkReachabilityStatus) -> Void
    ) -> Bool {
        let session = DeliverySession(queue: queue, status: NetworkReachabilityStatus.init) { [weak self] status, _ in
            if let self { listener(self, status) }
        }
        return watcher.start(session)
    }
}

extension SCNetworkReachabilityFlags {
    /// The flags as "WR ctiCDlda": a letter for each flag that is set, and `-` for each that is not.
    public var readableDescription: String {
        letters + (contains(.connectionAutomatic) ? "a" : "-")
    }
}

// The spelling of Alamofire 4.

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
