// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
internal import Observation
internal import ReachabilityInternals
public import SCReachability
internal import Synchronization

/// Monitors whether a host, an address or the default path is reachable, and delivers changes on a queue: the main
/// queue unless `deliveryQueue` is set.
///
/// Monitoring is off until `startMonitoring()`. The status is unknown until the first delivery. A delivery sets the
/// status, calls the block, then the observers, and then posts `AFNetworkingReachabilityDidChange`. Each start delivers
/// the current status, and then every change. A manager stops when its last reference is released. Every method is safe
/// on any thread.
open class AFNetworkReachabilityManager: Hashable, @unchecked Sendable {
    // Unchecked Sendable: the mutex of `state` guards it, and the other properties are constants. The mutex is never
    // held while a user's code runs, or the C library's, which may run a user's hooks.

    /// A block for `setReachabilityStatusChange(_:)`. Called on the delivery queue.
    public typealias StatusBlock = @Sendable (AFNetworkReachabilityStatus) -> Void

    private struct State {
        var status = AFNetworkReachabilityStatus.unknown
        var deliveryQueue = DispatchQueue.main
        var block: StatusBlock?
    }

    private let watcher: TargetWatcher
    private let state = Mutex(State())
    let observerRegistry = ObserverRegistry()

    /// The queue of the C library's callbacks. All managers share it, so that deliveries keep their order.
    package static let callbackQueue = DispatchQueue(label: "AFNetworkReachability")
    private static let sharedManager = AFNetworkReachabilityManager()

    /// The process's shared manager of the default path. It is created at the first call, and is not started.
    open class func shared() -> AFNetworkReachabilityManager { sharedManager }

    /// Monitors a target. With nil, `startMonitoring()` returns false, and the status stays unknown.
    public init(reachability: SCNetworkReachability!) {
        watcher = TargetWatcher(reachability, queue: AFNetworkReachabilityManager.callbackQueue)
    }

    /// Monitors the default path: whether the machine has a working default route, for IPv4 or IPv6.
    public convenience init() {
        self.init(reachability: Targets.defaultPath())
    }

    /// Monitors a host, by its name or by an address literal. If the text is not a host name, the host is never
    /// reachable; `init(validating:)` throws instead.
    ///
    /// - Precondition: `domain` is not empty.
    public convenience init(forDomain domain: String) {
        precondition(!domain.isEmpty, "the domain of a reachability manager must not be empty")
        self.init(reachability: Targets.unchecked(host: domain))
    }

    /// Monitors an address. `address` points to a `sockaddr` of IPv4 or IPv6. With another family, this is like
    /// `init(reachability:)` with nil.
    public convenience init(forAddress address: UnsafeRawPointer) {
        self.init(reachability: Targets.address(address))
    }

    /// Monitors a host, by its name or by an address literal. Throws if the text is not a host name.
    public convenience init(validating domain: String) throws(AFNetworkReachabilityError) {
        if let flaw = HostNameFlaw(of: domain) { throw AFNetworkReachabilityError(flaw) }
        guard let target = Targets.host(domain) else { throw .last }
        self.init(reachability: target)
    }

    /// Monitors an address. Throws if the bytes are not a complete `sockaddr` of IPv4 or IPv6.
    public convenience init(validatingAddress address: UnsafeRawBufferPointer) throws(AFNetworkReachabilityError) {
        guard var address = sockaddr_storage(address) else { throw .badAddress }
        guard let target = Targets.address(&address) else { throw .last }
        self.init(reachability: target)
    }

    /// Managers are equal if they are the same object, as on Apple's platforms.
    public static func == (one: AFNetworkReachabilityManager, other: AFNetworkReachabilityManager) -> Bool {
        one === other
    }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }

    deinit {
        // The watcher is not stopped here, so that a queued delivery still posts its notification.
        observerRegistry.end()
    }

    /// The last delivered status. Never queries the kernel. `withObservationTracking` can observe it.
    open var networkReachabilityStatus: AFNetworkReachabilityStatus { deliveredStatus }

    /// Like `networkReachabilityStatus`, but a subclass cannot override it.
    var deliveredStatus: AFNetworkReachabilityStatus {
        observerRegistry.registrar.access(self, keyPath: \.networkReachabilityStatus)
        return state.withLock(\.status)
    }

    /// Whether the target is reachable, over any interface. False while the status is unknown.
    open var isReachable: Bool { networkReachabilityStatus.isReachable }
    /// Whether the target is reachable over a cellular interface. False while the status is unknown.
    open var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }
    /// Whether the target is reachable over an interface that is not cellular. False while the status is unknown.
    open var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// The status as text, in the language of LC_ALL, LC_MESSAGES or LANG.
    open func localizedNetworkReachabilityStatusString() -> String {
        AFStringFromNetworkReachabilityStatus(networkReachabilityStatus)
    }

    /// The status as text, in a language such as "de" or "zh-Hans".
    open func localizedNetworkReachabilityStatusString(language: String) -> String {
        AFStringFromNetworkReachabilityStatus(networkReachabilityStatus, language: language)
    }

    /// The queue of deliveries, from the next start on. The default is the main queue; a program without a main loop
    /// sets another. Deliveries do not overlap, not even on a concurrent queue.
    public var deliveryQueue: DispatchQueue {
        get { state.withLock(\.deliveryQueue) }
        set { state.withLock { $0.deliveryQueue = newValue } }
    }

    /// Sets the one block that is called with each delivered status. nil removes it. This does not start monitoring,
    /// and does not call the block with an earlier status.
    @preconcurrency
    open func setReachabilityStatusChange(_ block: (@Sendable (AFNetworkReachabilityStatus) -> Void)?) {
        state.set(\.block, to: block)
    }

    /// Starts or restarts monitoring: delivers the current status, then every change. Never waits for a name server.
    ///
    /// - Returns: false, and the cause in `SCError()`, if the target cannot be watched: there is none, or it is
    ///   scheduled elsewhere. True if another thread is starting or stopping this manager: that thread then also does
    ///   this start.
    @discardableResult
    open func startMonitoring() -> Bool {
        stopMonitoring()
        return watcher.start(makeSession())
    }

    /// Makes the session of one start.
    package func makeSession() -> DeliverySession<AFNetworkReachabilityStatus> {
        DeliverySession(queue: deliveryQueue, status: AFNetworkReachabilityStatus.init) { [weak self] status, session in
            deliver(status, of: session, to: self)
        }
    }

    /// Stops monitoring, and drops queued deliveries. The status keeps its value.
    ///
    /// If you call this on the delivery queue, no delivery begins after it returns. If you call it elsewhere, a delivery
    /// that has begun may finish later, and no other begins. A block that stops its manager ends the calls of observers,
    /// but the notification of its own delivery is still posted, as by AFNetworking.
    open func stopMonitoring() {
        watcher.stop()
    }

    /// Sets the status unless its session has ended. That is checked under the lock: on a concurrent queue, the status
    /// of an ended session could otherwise replace one of the next session.
    fileprivate func setStatus(_ status: AFNetworkReachabilityStatus, unless hasEnded: () -> Bool) {
        observerRegistry.registrar.withMutation(of: self, keyPath: \.networkReachabilityStatus) {
            state.withLock { state in
                if !hasEnded() { state.status = status }
            }
        }
    }

    fileprivate var block: StatusBlock? { state.withLock(\.block) }
}

/// Delivers one status. A closure that stops the manager does not end the delivery that is running: as in AFNetworking, its
/// notification is still posted.
///
/// - Parameter manager: nil if it has ended since the delivery was queued. The notification is posted all the same.
private func deliver(
    _ status: AFNetworkReachabilityStatus, of session: DeliverySession<AFNetworkReachabilityStatus>,
    to manager: AFNetworkReachabilityManager?
) {
    if let manager {
        manager.setStatus(status) { session.hasEnded }
        guard !session.hasEnded else { return }
        manager.block?(status)
        manager.observerRegistry.notify(status) { session.hasEnded }
    }
    NotificationCenter.default.post(
        name: .AFNetworkingReachabilityDidChange, object: manager,
        userInfo: [AFNetworkingReachabilityNotificationStatusItem: NSNumber(value: status.rawValue)])
}
#endif
