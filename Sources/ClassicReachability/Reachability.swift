// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
public import SCReachability
internal import Synchronization

/// Reports whether a host, an address or the default path is reachable, and reports changes by blocks and a
/// notification. This is the class of Apple's sample code and of tonymillion's library.
///
/// Statuses are queried when they are read, and need no start. A start reports the current flags, and then every
/// change. An instance stops when its last reference is released. Every method is safe on any thread.
open class Reachability: Hashable, @unchecked Sendable, CustomStringConvertible {
    // Unchecked Sendable: the mutex of `state` guards it, and the other properties are constants. The mutex is never
    // held while other code runs.

    /// The instance is never nil. It is optional because Swift imports the block in this form on Apple's platforms.
    public typealias NetworkReachable = @Sendable (Reachability?) -> Void
    /// Called when the target is not reachable.
    public typealias NetworkUnreachable = @Sendable (Reachability?) -> Void
    /// Called with the flags of each change.
    public typealias NetworkReachability = @Sendable (Reachability?, SCNetworkReachabilityFlags) -> Void

    /// Instances are equal if they are the same object, as on Apple's platforms.
    public static func == (one: Reachability, other: Reachability) -> Bool {
        one === other
    }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }

    private struct State {
        var reachable: NetworkReachable?
        var unreachable: NetworkUnreachable?
        var changed: NetworkReachability?
        var countsWWAN = true
        var notificationQueue = NotificationQueue(.main)
    }

    private struct NotificationQueue: Sendable {
        let queue: DispatchQueue
        /// Keeps notifications from overlapping if `queue` is concurrent.
        let serialQueue: DispatchQueue

        init(_ queue: DispatchQueue) {
            self.queue = queue
            serialQueue = DispatchQueue(label: "notifications", target: queue)
        }
    }

    private let watcher: TargetWatcher
    private let isLocalWiFi: Bool
    private let state = Mutex(State())
    /// The queue of the C library's callbacks, and of the blocks.
    package let callbackQueue = DispatchQueue(label: "ClassicReachability")

    private init!(_ target: SCNetworkReachability?, isLocalWiFi: Bool = false) {
        guard let target else { return nil }
        watcher = TargetWatcher(target, queue: callbackQueue)
        self.isLocalWiFi = isLocalWiFi
    }

    /// A host, by its name or by an address literal. nil: the text is not a host name (it is empty, longer than 1024
    /// bytes, or contains a scheme, a slash, white space or a NUL), or the kernel cannot be queried.
    public convenience init!(hostName: String!) {
        self.init(hostName.flatMap(Targets.host))
    }

    /// The same as `init(hostName:)`.
    public convenience init!(hostname: String!) {
        self.init(hostName: hostname)
    }

    /// The host of a URL. Also nil if the URL has no host.
    public convenience init!(url: URL!) {
        self.init(hostName: url?.host(percentEncoded: false))
    }

    /// An address. `address` points to a `sockaddr` of IPv4 or IPv6. nil: the address is of another family.
    public convenience init!(address: UnsafeRawPointer!) {
        self.init(address.flatMap(Targets.address))
    }

    /// A target of the C library.
    public convenience init!(reachabilityRef: SCNetworkReachability!) {
        self.init(reachabilityRef)
    }

    /// The default path: whether the machine has a working default route, for IPv4 or IPv6.
    public class func forInternetConnection() -> Reachability! {
        Reachability(Targets.defaultPath())
    }

    /// The local network, the address 169.254.0.0: whether an interface is up and has a carrier. Loopback and
    /// point-to-point interfaces do not count. Before a start, reading the status may wait for the kernel.
    public class func forLocalWiFi() -> Reachability! {
        Reachability(Targets.address("169.254.0.0"), isLocalWiFi: true)
    }

    // MARK: Status

    /// The status now. Never waits for a name server.
    open func currentReachabilityStatus() -> NetworkStatus {
        status(of: reachabilityFlags())
    }

    /// Whether the target is reachable over any interface that counts.
    open func isReachable() -> Bool { currentReachabilityStatus() != .notReachable }
    /// Whether the target is reachable over an interface that is not cellular.
    open func isReachableViaWiFi() -> Bool { currentReachabilityStatus() == .reachableViaWiFi }
    /// Whether the target is reachable over a cellular interface.
    open func isReachableViaWWAN() -> Bool { currentReachabilityStatus() == .reachableViaWWAN }

    /// Whether a connection must be made first, automatically or by the user.
    open func connectionRequired() -> Bool { reachabilityFlags().contains(.connectionRequired) }
    /// Whether packets can leave only after a connection is made.
    open func isConnectionRequired() -> Bool { connectionRequired() }

    /// Whether a connection must be made first, and traffic or demand makes it automatically.
    open func isConnectionOnDemand() -> Bool {
        let flags = reachabilityFlags()
        let isAutomatic = !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
        return flags.contains(.connectionRequired) && isAutomatic
    }

    /// Whether the user must make a connection first.
    open func isInterventionRequired() -> Bool {
        reachabilityFlags().isSuperset(of: [.connectionRequired, .interventionRequired])
    }

    /// The flags now. Empty if the kernel cannot be queried.
    open func reachabilityFlags() -> SCNetworkReachabilityFlags {
        watcher.target?.flags ?? []
    }

    /// The status as text: "No Connection", "Cellular" or "WiFi".
    open func currentReachabilityString() -> String {
        switch currentReachabilityStatus() {
        case .notReachable: "No Connection"
        case .reachableViaWWAN: "Cellular"
        case .reachableViaWiFi: "WiFi"
        }
    }

    /// The flags as "WR ctiCDld": a letter for each flag that is set, and `-` for each that is not.
    open func currentReachabilityFlags() -> String {
        reachabilityFlags().letters
    }

    /// The flags as text.
    public var description: String {
        "<Reachability: \(ObjectIdentifier(self)) (\(currentReachabilityFlags()))>"
    }

    /// False: a target that is reachable over a cellular interface counts as not reachable.
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

    // MARK: Notification

    /// Called on a background queue when the target is reachable.
    @preconcurrency
    public var reachableBlock: (@Sendable (Reachability?) -> Void)? {
        get { state.withLock(\.reachable) }
        set { state.set(\.reachable, to: newValue) }
    }

    /// Called on a background queue when the target is not reachable.
    @preconcurrency
    public var unreachableBlock: (@Sendable (Reachability?) -> Void)? {
        get { state.withLock(\.unreachable) }
        set { state.set(\.unreachable, to: newValue) }
    }

    /// Called with the flags on a background queue, after `reachableBlock` or `unreachableBlock`.
    @preconcurrency
    public var reachabilityBlock: (@Sendable (Reachability?, SCNetworkReachabilityFlags) -> Void)? {
        get { state.withLock(\.changed) }
        set { state.set(\.changed, to: newValue) }
    }

    /// The queue where notifications are posted. The default is the main queue; a program without a main loop sets
    /// another. Notifications do not overlap, not even on a concurrent queue.
    public var notificationQueue: DispatchQueue {
        get { state.withLock(\.notificationQueue.queue) }
        set { state.set(\.notificationQueue, to: NotificationQueue(newValue)) }
    }

    /// Reports the current flags, and then every change. Does nothing if the notifier runs already.
    ///
    /// - Returns: false, and the cause in `SCError()`, if the target cannot be watched. True if another thread is
    ///   starting or stopping this instance: that thread then also does this start.
    @discardableResult
    open func startNotifier() -> Bool {
        let session = DeliverySession(
            queue: callbackQueue, status: { $0 }, deliver: { [weak self] in self?.deliver($0, of: $1) })
        return watcher.start(session, ifStopped: true)
    }

    /// Stops the notifier, and drops queued reports.
    ///
    /// If you call this in a block or on the notification queue, there is no report after it returns. If you call it
    /// elsewhere, a report that has begun may finish later, and no other begins.
    open func stopNotifier() {
        watcher.stop()
    }

    /// Calls the blocks and posts the notifications. Any of them may stop the notifier: the rest is then dropped.
    private func deliver(
        _ flags: SCNetworkReachabilityFlags, of session: DeliverySession<SCNetworkReachabilityFlags>
    ) {
        if status(of: flags) == .notReachable { unreachableBlock?(self) } else { reachableBlock?(self) }
        if !session.hasEnded { reachabilityBlock?(self, flags) }
        state.withLock(\.notificationQueue.serialQueue).async { [weak self] in
            for name in [NSNotification.Name.reachabilityChanged, .networkReachabilityChanged] {
                guard let self, !session.hasEnded else { return }
                NotificationCenter.default.post(name: name, object: self)
            }
        }
    }
}

/// Whether a packet can leave for the target, and over which type of interface. That does not mean that the target
/// responds.
///
/// The raw values are those of tonymillion's Reachability. Apple's sample has 1 for Wi-Fi and 2 for cellular. Code that
/// stored the sample's values must swap the two.
public enum NetworkStatus: Int, Sendable {
    /// The target is not reachable.
    case notReachable = 0
    /// Over a cellular interface.
    case reachableViaWWAN = 1
    /// Over any other interface: Wi-Fi, Ethernet, a tunnel.
    case reachableViaWiFi = 2
}

/// The text of `NSNotification.Name.reachabilityChanged`, for sources that make the name from its text.
public let kReachabilityChangedNotification = "kReachabilityChangedNotification"
/// The text of `NSNotification.Name.networkReachabilityChanged`.
public let kNetworkReachabilityChangedNotification = "kNetworkReachabilityChangedNotification"

extension NSNotification.Name {
    /// Posted on the notification queue, after the blocks. The object is the `Reachability`.
    public static let reachabilityChanged = NSNotification.Name(kReachabilityChangedNotification)
    /// The name in Apple's sample. Posted right after `reachabilityChanged`.
    public static let networkReachabilityChanged = NSNotification.Name(kNetworkReachabilityChangedNotification)
}
#endif
