// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
internal import ReachabilitySupport
public import SCReachability
internal import Synchronization

/// Says whether a host, an address or the default path can be reached, and tells of changes by blocks and a
/// notification: the class of Apple's sample and of tonymillion's.
///
/// Statuses are asked for when they are read, and need no start. Each start tells once how it is, and then whenever the
/// flags change. An instance that is let go of stops; every method may be called on any thread.
open class Reachability: @unchecked Sendable, CustomStringConvertible {
    // Sendable: `state` is guarded by its mutex, the rest is constant. The mutex is never held while other code runs.

    /// The instance is never nil; optional as the block is imported on Apple's platforms.
    public typealias NetworkReachable = @Sendable (Reachability?) -> Void
    public typealias NetworkUnreachable = @Sendable (Reachability?) -> Void
    public typealias NetworkReachability = @Sendable (Reachability?, SCNetworkReachabilityFlags) -> Void

    private struct State {
        var reachable: NetworkReachable?
        var unreachable: NetworkUnreachable?
        var changed: NetworkReachability?
        var countsWWAN = true
        var posting = Posting(on: .main)
    }

    private struct Posting: Sendable {
        let queue: DispatchQueue
        /// On a concurrent queue, too, one notification after the other.
        let turns: DispatchQueue

        init(on queue: DispatchQueue) {
            self.queue = queue
            turns = DispatchQueue(label: "notifications", target: queue)
        }
    }

    private let watcher: Watcher
    private let isLocalWiFi: Bool
    private let state = Mutex(State())
    /// The blocks are called here.
    package let queue = DispatchQueue(label: "ClassicReachability")

    private init!(_ target: SCNetworkReachability?, isLocalWiFi: Bool = false) {
        guard let target else { return nil }
        watcher = Watcher(target, queue: queue)
        self.isLocalWiFi = isLocalWiFi
    }

    /// A host, by its name or an address literal. nil: a text that is no host's name (empty, with a scheme, a slash,
    /// white space or a NUL, longer than 1024 bytes), or the kernel cannot be asked.
    public convenience init!(hostName: String!) {
        self.init(hostName.flatMap(Targets.host))
    }

    /// As `init(hostName:)`.
    public convenience init!(hostname: String!) {
        self.init(hostName: hostname)
    }

    /// The host of a URL; nil also where it has none.
    public convenience init!(url: URL!) {
        self.init(hostName: url?.host(percentEncoded: false))
    }

    /// `address` points to a `sockaddr` of IPv4 or IPv6; any other: nil.
    public convenience init!(address: UnsafeRawPointer!) {
        self.init(address.flatMap(Targets.address))
    }

    /// Any target.
    public convenience init!(reachabilityRef: SCNetworkReachability!) {
        self.init(reachabilityRef)
    }

    /// The default path: whether the machine has a way out, by IPv4 or IPv6.
    public class func forInternetConnection() -> Reachability! {
        Reachability(Targets.defaultPath())
    }

    /// 169.254.0.0: reachable only on a network that this machine is attached to, with no gateway in between.
    public class func forLocalWiFi() -> Reachability! {
        Reachability(Targets.address("169.254.0.0"), isLocalWiFi: true)
    }

    // MARK: Asking

    /// The status now. Never waits for a name server.
    open func currentReachabilityStatus() -> NetworkStatus {
        status(of: reachabilityFlags())
    }

    open func isReachable() -> Bool { currentReachabilityStatus() != .notReachable }
    /// Over anything but a cellular interface.
    open func isReachableViaWiFi() -> Bool { currentReachabilityStatus() == .reachableViaWiFi }
    open func isReachableViaWWAN() -> Bool { currentReachabilityStatus() == .reachableViaWWAN }

    /// A connection must be made first, by itself or not.
    open func connectionRequired() -> Bool { reachabilityFlags().contains(.connectionRequired) }
    open func isConnectionRequired() -> Bool { connectionRequired() }

    /// A connection must be made first, which traffic or demand brings about.
    open func isConnectionOnDemand() -> Bool {
        let flags = reachabilityFlags()
        let isByItself = !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
        return flags.contains(.connectionRequired) && isByItself
    }

    /// A connection must be made first, by the user.
    open func isInterventionRequired() -> Bool {
        reachabilityFlags().isSuperset(of: [.connectionRequired, .interventionRequired])
    }

    /// The flags now; none where the kernel cannot be asked.
    open func reachabilityFlags() -> SCNetworkReachabilityFlags {
        watcher.target?.flags ?? []
    }

    /// The status in words: "No Connection", "Cellular", "WiFi".
    open func currentReachabilityString() -> String {
        switch currentReachabilityStatus() {
        case .notReachable: "No Connection"
        case .reachableViaWWAN: "Cellular"
        case .reachableViaWiFi: "WiFi"
        }
    }

    /// The flags as letters, "WR ctiCDld", `-` for each that is not set.
    open func currentReachabilityFlags() -> String {
        reachabilityFlags().letters
    }

    public var description: String {
        "<Reachability: \(ObjectIdentifier(self)) (\(currentReachabilityFlags()))>"
    }

    /// False: a way over a cellular interface counts as none.
    public var reachableOnWWAN: Bool {
        get { state.withLock(\.countsWWAN) }
        set { state.withLock { $0.countsWWAN = newValue } }
    }

    package func status(of flags: SCNetworkReachabilityFlags) -> NetworkStatus {
        if isLocalWiFi { return flags.isSuperset(of: [.reachable, .isDirect]) ? .reachableViaWiFi : .notReachable }
        guard flags.isUsable else { return .notReachable }
        guard flags.contains(.isWWAN) else { return .reachableViaWiFi }
        return reachableOnWWAN ? .reachableViaWWAN : .notReachable
    }

    // MARK: Being told

    /// Called on a background queue when it is reachable.
    @preconcurrency
    public var reachableBlock: (@Sendable (Reachability?) -> Void)? {
        get { state.withLock(\.reachable) }
        set { state.set(\.reachable, to: newValue) }
    }

    /// Called on a background queue when it is not reachable.
    @preconcurrency
    public var unreachableBlock: (@Sendable (Reachability?) -> Void)? {
        get { state.withLock(\.unreachable) }
        set { state.set(\.unreachable, to: newValue) }
    }

    /// Called on a background queue after the one of the other two, with the flags.
    @preconcurrency
    public var reachabilityBlock: (@Sendable (Reachability?, SCNetworkReachabilityFlags) -> Void)? {
        get { state.withLock(\.changed) }
        set { state.set(\.changed, to: newValue) }
    }

    /// Where the notifications are posted: the main queue unless set. For programs without a main loop, any other. They do
    /// not overlap on a concurrent queue either.
    public var notificationQueue: DispatchQueue {
        get { state.withLock(\.posting.queue) }
        set { state.set(\.posting, to: Posting(on: newValue)) }
    }

    /// Starts telling; does nothing if that was done already.
    ///
    /// - Returns: false, and why in `SCError()`, if the target cannot be watched. True while another thread starts or
    ///   stops the same instance: that thread then sees to it.
    @discardableResult
    open func startNotifier() -> Bool {
        let feed = Feed(queue: queue, status: { $0 }, deliver: { [weak self] in self?.tell($0, $1) })
        return watcher.start(feed, ifStopped: true)
    }

    /// Stops; what is on its way is dropped. In a block, or where notifications are posted, nothing is told once this
    /// has returned; from elsewhere, at most the call in flight ends.
    open func stopNotifier() {
        watcher.stop()
    }

    /// Any of those told may stop the notifier: the others are then not told.
    private func tell(_ flags: SCNetworkReachabilityFlags, _ feed: Feed<SCNetworkReachabilityFlags>) {
        if status(of: flags) == .notReachable { unreachableBlock?(self) } else { reachableBlock?(self) }
        if !feed.isOver { reachabilityBlock?(self, flags) }
        state.withLock(\.posting.turns).async { [weak self] in
            for name in [NSNotification.Name.reachabilityChanged, .networkReachabilityChanged] {
                guard let self, !feed.isOver else { return }
                NotificationCenter.default.post(name: name, object: self)
            }
        }
    }
}
#endif
