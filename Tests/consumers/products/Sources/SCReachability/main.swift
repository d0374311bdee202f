import Foundation
import SCReachability

guard let target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "localhost") else { exit(1) }
var context = SCNetworkReachabilityContext(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
SCNetworkReachabilitySetCallback(
    target,
    { _, flags, _ in
        print(flags)
        CFRunLoopStop(CFRunLoopGetMain())
    }, &context)
SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue)
exit(CFRunLoopRunInMode(.defaultMode, 20, false) == .stopped ? 0 : 1)
