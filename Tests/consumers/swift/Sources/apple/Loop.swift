// Code as it is written for Apple's SystemConfiguration: targets on run loops. It imports nothing else.

import SystemConfiguration

private final class Count {
    var calls = 0
}

enum Loop {
    /// The callback of a name runs on the calling thread's loop.
    static func callsUntilStopped(host: String) -> Int {
        guard let target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, host) else { return -1 }
        let count = Count()
        var context = SCNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(count).toOpaque()
        SCNetworkReachabilitySetCallback(
            target,
            { (target, flags, info) in
                Unmanaged<Count>.fromOpaque(info!).takeUnretainedValue().calls += 1
                SCNetworkReachabilityUnscheduleFromRunLoop(
                    target, CFRunLoopGetCurrent(), CFRunLoopMode.commonModes.rawValue)
                CFRunLoopStop(CFRunLoopGetCurrent())
            }, &context)
        guard
            SCNetworkReachabilityScheduleWithRunLoop(
                target, CFRunLoopGetCurrent(), CFRunLoopMode.commonModes!.rawValue)
        else { return -1 }
        CFRunLoopRun()
        CFRunLoopRunInMode(.defaultMode, 0, true)
        return count.calls
    }

    /// Another thread schedules the target, and the callback runs on the main loop.
    static func callsInMainLoop(host: String) -> Int {
        guard let target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, host) else { return -1 }
        let count = Count()
        var context = SCNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(count).toOpaque()
        let callback: SCNetworkReachabilityCallBack = { _, _, info in
            guard let info = info else { return }
            Unmanaged<Count>.fromOpaque(info).takeUnretainedValue().calls += 1
        }
        SCNetworkReachabilitySetCallback(target, callback, &context)
        DispatchQueue.global().async {
            SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue)
        }
        while count.calls == 0 { CFRunLoopRunInMode(CFRunLoopMode.defaultMode, 20, true) }
        let isUnscheduled = SCNetworkReachabilityUnscheduleFromRunLoop(
            target, CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue)
        return isUnscheduled ? count.calls : -1
    }

    /// The text of the error of a target that cannot be created.
    static func failure() -> String {
        guard SCNetworkReachabilityCreateWithName(nil, "") == nil else { return "" }
        let status = SCError()
        return Int(status) == kSCStatusInvalidArgument ? String(cString: SCErrorString(status)) : ""
    }
}
