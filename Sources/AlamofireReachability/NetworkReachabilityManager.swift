// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch
internal import ReachabilitySupport
public import SCReachability
internal import Synchronization

/// Says whether a host or the default path can be reached, and tells a listener of changes.
///
/// `status` and what follows from it are asked for when they are read, and need no start. A listener is told once at each
/// start, and then whenever the status changes. A manager that is let go of stops; every method may be called on any
/// thread.
open class NetworkReachabilityManager: @unchecked Sendable {
    // Sendable: `legacy` is guarded by its mutex, the rest is constant. The mutex is never held while other code runs.

    /// Whether, and over what, a packet can leave. Never whether the host answers.
    public enum NetworkReachabilityStatus: Equatable, Sendable {
        /// The kernel could not be asked.
        case unknown
        case notReachable
        case reachable(ConnectionType)

        public enum ConnectionType: Sendable {
            /// Anything but a cellular interface.
            case ethernetOrWiFi
            case cellular

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

    public typealias ConnectionType = NetworkReachabilityStatus.ConnectionType
    /// Called on the queue that was named at the start.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The default path, for the whole process. Made when it is first asked for, and not started.
    public static let `default` = NetworkReachabilityManager()

    /// Where changes arrive before they are taken to the listener's queue.
    public let reachabilityQueue = DispatchQueue(label: "org.alamofire.reachabilityQueue")

    private let watcher: Watcher
    let legacy = Mutex(Legacy())

    /// The default path: whether the machine has a way out, by IPv4 or IPv6. nil: the kernel cannot be asked;
    /// `SCError()` tells.
    public convenience init?() {
        self.init(target: Targets.defaultPath())
    }

    /// A host, by its name or an address literal. nil: a text that is no host's name (empty, with a scheme, a slash,
    /// white space or a NUL, longer than 1024 bytes), or the kernel cannot be asked.
    public convenience init?(host: String) {
        self.init(target: Targets.host(host))
    }

    private init?(target: SCNetworkReachability?) {
        guard let target else { return nil }
        watcher = Watcher(target, queue: reachabilityQueue)
    }

    /// The flags now: a query to the kernel, or the latest evaluation while the manager listens. nil: the kernel could
    /// not be asked.
    open var flags: SCNetworkReachabilityFlags? { watcher.target?.flags }

    /// The status now, of `flags`.
    open var status: NetworkReachabilityStatus { flags.map(NetworkReachabilityStatus.init) ?? .unknown }

    /// Over whatever interface.
    open var isReachable: Bool {
        if case .reachable = status { true } else { false }
    }

    open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    /// Over anything but a cellular interface.
    open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Calls `listener` on `queue`: with the status as it is, and then whenever it changes. What was started before is
    /// stopped.
    ///
    /// - Returns: false, and why in `SCError()`, if the target cannot be watched. True while another thread starts or
    ///   stops the same manager: that thread then sees to it.
    @preconcurrency
    @discardableResult
    open func startListening(
        onQueue queue: DispatchQueue = .main,
        onUpdatePerforming listener: @escaping @Sendable (NetworkReachabilityStatus) -> Void
    ) -> Bool {
        start(on: queue) { _, status in listener(status) }
    }

    /// Stops; what is on its way to the listener is dropped. On the listener's queue, nothing is told once this has
    /// returned; from elsewhere, at most the call in flight ends.
    open func stopListening() {
        watcher.stop()
    }

    /// One manager's start: `listener` is not called when the manager has ended.
    func start(
        on queue: DispatchQueue,
        _ listener: @escaping @Sendable (NetworkReachabilityManager, NetworkReachabilityStatus) -> Void
    ) -> Bool {
        let feed = Feed(queue: queue, status: NetworkReachabilityStatus.init) { [weak self] status, _ in
            if let self { listener(self, status) }
        }
        return watcher.start(feed)
    }
}

extension SCNetworkReachabilityFlags {
    /// "WR ctiCDlda": a letter for each flag that is set, `-` for each that is not.
    public var readableDescription: String {
        letters + (contains(.connectionAutomatic) ? "a" : "-")
    }
}
#endif
