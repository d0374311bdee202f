// SPDX-License-Identifier: MIT

#if os(Linux)
public import CReachability
public import Dispatch

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
