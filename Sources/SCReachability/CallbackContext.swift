// SPDX-License-Identifier: MIT

#if os(Linux)
public import CReachability
public import Dispatch
public import Foundation
internal import ReachabilityInternals

/// The callback of a target. It is called on the queue or run loop of the target's schedule, with the target, its flags
/// at the beginning of the call, and the context's `info`. Calls for one target never overlap. The last call always has
/// the current flags.
public typealias SCNetworkReachabilityCallBack = CNetworkReachabilityCallBack

/// The `info` of a callback, and the hooks that retain and release it. It is copied when the callback is set.
public struct SCNetworkReachabilityContext {
    /// Must be 0.
    public var version: Int
    /// Passed to the callback.
    public var info: UnsafeMutableRawPointer?
    /// Called when the callback is set, and before each call. Its result is used instead of `info`.
    public var retain: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer)?
    /// Called once for each `retain`: after each call, and when the callback is replaced or removed, or the target is
    /// freed. It may be called on any thread.
    public var release: (@convention(c) (UnsafeRawPointer) -> Void)?
    /// Never called. It exists because Apple's structure has it.
    public var copyDescription: ((UnsafeRawPointer) -> Unmanaged<CFString>)?

    /// Makes a context, as on Apple's platforms.
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

    /// Makes a context, as on Apple's platforms.
    public init() {
        self.init(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
    }
}

/// Sets or replaces the callback of a target. With nil as `callout`, removes it.
///
/// The new context is retained before the old one is released. The new callback is first called at the next change. If
/// you call this on the queue or thread of the callbacks, the old callback is not called after it returns. If you call
/// it elsewhere, a call of the old callback that has begun may finish later, and no other begins.
///
/// - Returns: false on failure, and the cause in `SCError()`.
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

/// Schedules the target on a queue. Its callbacks come on `queue`, one at a time, even if the queue is concurrent. nil
/// ends the schedule.
///
/// If you pass nil on `queue` itself, no callback comes after this returns. If you pass it elsewhere, a callback that
/// has begun may finish later, and no other begins.
///
/// - Returns: false on failure, and the cause in `SCError()`: `kSCStatusInvalidArgument` if the target is already
///   scheduled, or, with nil, if it is not on a queue.
@discardableResult
public func SCNetworkReachabilitySetDispatchQueue(_ target: SCNetworkReachability, _ queue: DispatchQueue?) -> Bool {
    guard let queue else {
        if RunLoopSchedule.exists(for: target) { return failWithInvalidArgument() }
        return SCNetworkReachabilitySetScheduler(target, nil)
    }
    var scheduler = SCNetworkReachabilityScheduler(retaining: queue) { info, work, argument in
        nonisolated(unsafe) let argument = argument
        CallbackInfo.object(DispatchQueue.self, at: info!).async { work(argument) }
    }
    return SCNetworkReachabilitySetScheduler(target, &scheduler)
}
#endif
