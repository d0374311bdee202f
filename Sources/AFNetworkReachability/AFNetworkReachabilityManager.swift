// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
internal import Observation
internal import ReachabilityHostNames
package import ReachabilitySupport
public import SCReachability
internal import Synchronization

/// Watches whether a host, an address or the default path can be reached, and tells of changes on a queue: the main one
/// unless `deliveryQueue` says otherwise.
///
/// Monitoring is off until `startMonitoring()`; the status is unknown until the first delivery. A delivery sets the
/// status, calls the block, then the observers, and posts `AFNetworkingReachabilityDidChange`. Each start delivers once,
/// then whenever the status changes. A manager that is let go of stops; every method may be called on any thread.
open class AFNetworkReachabilityManager: @unchecked Sendable {
    // Sendable: `state` is guarded by its mutex, the rest is constant. The mutex is never held while other code is
    // called: the C library's, which may run hooks, or a user's.

    /// A status block, as `setReachabilityStatusChange(_:)` takes it. Called on the delivery queue.
    public typealias StatusBlock = @Sendable (AFNetworkReachabilityStatus) -> Void

    private struct State {
        var status = AFNetworkReachabilityStatus.unknown
        var deliveryQueue = DispatchQueue.main
        var block: StatusBlock?
    }

    private let watcher: Watcher
    private let state = Mutex(State())
    let audience = Audience()

    /// Flags of all managers pass here, so that deliveries keep their order.
    package static let arrivals = DispatchQueue(label: "AFNetworkReachability")
    private static let theShared = AFNetworkReachabilityManager()

    /// The manager of the default path that the whole process shares; made when it is first asked for, not started.
    open class func shared() -> AFNetworkReachabilityManager { theShared }

    /// Watches a target. nil: nothing can be watched; `startMonitoring()` answers false, and the status stays unknown.
    public init(reachability: SCNetworkReachability!) {
        watcher = Watcher(reachability, queue: AFNetworkReachabilityManager.arrivals)
    }

    /// Watches the default path: whether the machine has a way out, by IPv4 or IPv6.
    public convenience init() {
        self.init(reachability: Targets.defaultPath())
    }

    /// Watches a host, by its name or an address literal. A text that is no host's name (`init(validating:)` tells) is
    /// never reachable.
    ///
    /// - Precondition: `domain` is not empty.
    public convenience init(forDomain domain: String) {
        precondition(!domain.isEmpty, "a reachability manager needs a domain that is not empty")
        self.init(reachability: Targets.unchecked(host: domain))
    }

    /// Watches an address: `address` points to a `sockaddr` of IPv4 or IPv6. Any other: as `init(reachability:)` with
    /// nil.
    public convenience init(forAddress address: UnsafeRawPointer) {
        self.init(reachability: Targets.address(address))
    }

    /// Watches a host, after a look at its name.
    public convenience init(validating domain: String) throws(AFNetworkReachabilityError) {
        if let flaw = HostNameFlaw(of: domain) { throw AFNetworkReachabilityError(flaw) }
        guard let target = Targets.host(domain) else { throw .last }
        self.init(reachability: target)
    }

    /// Watches an address, after a look at it: the bytes of a `sockaddr` of IPv4 or IPv6, at least all of its fields.
    public convenience init(validatingAddress address: UnsafeRawBufferPointer) throws(AFNetworkReachabilityError) {
        guard var address = sockaddr_storage(address) else { throw .badAddress }
        guard let target = Targets.address(&address) else { throw .last }
        self.init(reachability: target)
    }

    deinit {
        // The watcher ends with this object, and does not stop: a delivery on its way posts its notification.
        audience.end()
    }

    /// The last status delivered. Observed (`withObservationTracking`); never asks the system.
    open var networkReachabilityStatus: AFNetworkReachabilityStatus { deliveredStatus }

    /// As `networkReachabilityStatus`, whatever a subclass makes of that.
    var deliveredStatus: AFNetworkReachabilityStatus {
        audience.registrar.access(self, keyPath: \.networkReachabilityStatus)
        return state.withLock(\.status)
    }

    /// False while unknown.
    open var isReachable: Bool { networkReachabilityStatus.isReachable }
    /// Over a cellular interface. False while unknown.
    open var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }
    /// Over anything but a cellular interface. False while unknown.
    open var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// The status in words, in the language of the environment: LC_ALL, LC_MESSAGES, LANG.
    open func localizedNetworkReachabilityStatusString() -> String {
        AFStringFromNetworkReachabilityStatus(networkReachabilityStatus)
    }

    /// The status in words, in a language such as "de" or "zh-Hans".
    open func localizedNetworkReachabilityStatusString(language: String) -> String {
        AFStringFromNetworkReachabilityStatus(networkReachabilityStatus, language: language)
    }

    /// Where the next start delivers: the main queue unless set. For programs without a main loop, any other. Deliveries
    /// do not overlap on a concurrent queue either.
    public var deliveryQueue: DispatchQueue {
        get { state.withLock(\.deliveryQueue) }
        set { state.withLock { $0.deliveryQueue = newValue } }
    }

    /// Sets the one block that is called when a status is delivered; nil clears it. Neither starts nor replays.
    @preconcurrency
    open func setReachabilityStatusChange(_ block: (@Sendable (AFNetworkReachabilityStatus) -> Void)?) {
        state.set(\.block, to: block)
    }

    /// Starts, or starts again: the status is delivered, and then each change. Never waits, for a name server either.
    ///
    /// - Returns: false, and why in `SCError()`, if the target cannot be watched: there is none, or it is scheduled
    ///   elsewhere. True while another thread starts or stops the same manager: that thread then sees to it.
    @discardableResult
    open func startMonitoring() -> Bool {
        stopMonitoring()
        return watcher.start(makeFeed())
    }

    /// What a start is told with.
    package func makeFeed() -> Feed<AFNetworkReachabilityStatus> {
        Feed(queue: deliveryQueue, status: AFNetworkReachabilityStatus.init) { [weak self] status, feed in
            Delivery(status: status, feed: feed).make(for: self)
        }
    }

    /// Stops; what is on its way to the delivery queue is dropped. On that queue, nothing is delivered once this has
    /// returned; from elsewhere, at most the delivery in flight ends. The status stays what it was.
    open func stopMonitoring() {
        watcher.stop()
    }

    /// Looks whether the delivery was dropped where the status is set: on a concurrent queue, that of a start which is
    /// over could else come after the next one's.
    fileprivate func take(_ status: AFNetworkReachabilityStatus, unless isOver: () -> Bool) {
        audience.registrar.withMutation(of: self, keyPath: \.networkReachabilityStatus) {
            state.withLock { state in
                if !isOver() { state.status = status }
            }
        }
    }

    fileprivate var block: StatusBlock? { state.withLock(\.block) }
}

/// One status on its way to a manager and everyone whom that tells. Any of them may stop the manager: the others are
/// then not told.
private struct Delivery {
    let status: AFNetworkReachabilityStatus
    let feed: Feed<AFNetworkReachabilityStatus>

    func make(for manager: AFNetworkReachabilityManager?) {
        if let manager {
            manager.take(status) { feed.isOver }
            guard !feed.isOver else { return }
            manager.block?(status)
            manager.audience.tell(status) { feed.isOver }
        }
        guard !feed.isOver else { return }
        NotificationCenter.default.post(
            name: .AFNetworkingReachabilityDidChange, object: manager,
            userInfo: [AFNetworkingReachabilityNotificationStatusItem: NSNumber(value: status.rawValue)])
    }
}
#endif
