// SPDX-License-Identifier: MIT

#if os(Linux)
public import CReachability
public import Dispatch

/// Callbacks of the target come on `queue`, one at a time also where it is concurrent; nil ends that.
///
/// On `queue`, nothing more is delivered once nil was set; from elsewhere, at most the call in flight finishes.
///
/// - Returns: false, and why in `SCError()`: `kSCStatusInvalidArgument` if the target is scheduled already, or, with
///   nil, not on a queue.
@discardableResult
public func SCNetworkReachabilitySetDispatchQueue(_ target: SCNetworkReachability, _ queue: DispatchQueue?) -> Bool {
    guard let queue else {
        return RunLoopSchedule.exists(for: target) ? refused() : SCNetworkReachabilitySetScheduler(target, nil)
    }
    var scheduler = SCNetworkReachabilityScheduler(
        version: 0,
        info: Unmanaged.passUnretained(queue).toOpaque(),
        retain: { UnsafeRawPointer(Unmanaged<DispatchQueue>.fromOpaque($0!).retain().toOpaque()) },
        release: { Unmanaged<DispatchQueue>.fromOpaque($0!).release() },
        perform: { info, work, argument in
            nonisolated(unsafe) let argument = argument
            Unmanaged<DispatchQueue>.fromOpaque(info!).takeUnretainedValue().async { work(argument) }
        })
    return SCNetworkReachabilitySetScheduler(target, &scheduler)
}
#endif
