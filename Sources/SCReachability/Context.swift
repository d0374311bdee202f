// SPDX-License-Identifier: MIT

#if os(Linux)
public import CReachability
public import Foundation

/// Called on the queue or run loop that the target is scheduled on: with the target, its flags when the call began, and
/// the context's `info`. Calls for one target never overlap; the last one always has the settled flags.
public typealias SCNetworkReachabilityCallBack = CNetworkReachabilityCallBack

/// What a callback is given, and how long that lives; copied when the callback is set.
public struct SCNetworkReachabilityContext {
    /// 0.
    public var version: Int
    public var info: UnsafeMutableRawPointer?
    /// Called when the callback is set and before each call; what it returns is used in place of `info`.
    public var retain: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer)?
    /// Called after each call, and when the callback was replaced or cleared or the target has ended: once for each
    /// `retain`, on whichever thread lets go.
    public var release: (@convention(c) (UnsafeRawPointer) -> Void)?
    /// Kept for the shape; not called.
    public var copyDescription: ((UnsafeRawPointer) -> Unmanaged<CFString>)?

    public init(
        version: Int,
        info: UnsafeMutableRawPointer?,
        retain: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer)?,
        release: (@convention(c) (UnsafeRawPointer) -> Void)?,
        copyDescription: ((UnsafeRawPointer) -> Unmanaged<CFString>)?
    ) {
        self.version = version
        self.info = info
        self.retain = retain
        self.release = release
        self.copyDescription = copyDescription
    }

    public init() {
        self.init(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
    }
}

/// Sets, replaces or (`callout` nil) clears the callback of a target.
///
/// The new context is retained before the old one is released. Nothing is replayed: the next change is delivered. On
/// the thread or queue that delivers, the old callback is not called once this has returned; from elsewhere, at most the
/// call in flight finishes.
///
/// - Returns: false, and why in `SCError()`.
@discardableResult
public func SCNetworkReachabilitySetCallback(
    _ target: SCNetworkReachability,
    _ callout: SCNetworkReachabilityCallBack?,
    _ context: UnsafeMutablePointer<SCNetworkReachabilityContext>?
) -> Bool {
    guard let context = context?.pointee else { return __SCNetworkReachabilitySetCallback(target, callout, nil) }
    var copy = CNetworkReachabilityContext(
        version: context.version, info: context.info, retain: context.retain, release: context.release,
        copyDescription: nil)
    return __SCNetworkReachabilitySetCallback(target, callout, &copy)
}
#endif
