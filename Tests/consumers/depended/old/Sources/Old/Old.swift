#if canImport(SystemConfiguration)
import Foundation
import SystemConfiguration

/// Calls back with the flags of a host when they are known, and at each change.
public final class HostWatcher {
    private let target: SCNetworkReachability
    private let handler: (SCNetworkReachabilityFlags) -> Void

    public init?(host: String, handler: @escaping (SCNetworkReachabilityFlags) -> Void) {
        guard let target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, host) else { return nil }
        self.target = target
        self.handler = handler
        var context = SCNetworkReachabilityContext()
        context.info = Unmanaged.passUnretained(self).toOpaque()
        SCNetworkReachabilitySetCallback(
            target,
            { _, flags, info in Unmanaged<HostWatcher>.fromOpaque(info!).takeUnretainedValue().handler(flags) },
            &context)
        SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), RunLoop.Mode.common as CFString)
    }

    deinit {
        SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetMain(), RunLoop.Mode.common as CFString)
    }
}
#endif
