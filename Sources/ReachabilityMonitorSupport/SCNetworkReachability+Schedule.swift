// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability

extension SCNetworkReachability {
    /// Calls `onChange` on the library's own thread at every change: the scheduler runs the work at once, so no thread
    /// switch lies between the kernel's message and this call. Returns false if the target cannot be scheduled.
    package func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        let closure = Unmanaged.passRetained(RetainedClosure(onChange))
        defer { closure.release() }
        var context = CNetworkReachabilityContext()
        context.info = closure.toOpaque()
        // With both hooks, the closure of a call that has begun outlives `unschedule`.
        context.retain = { UnsafeRawPointer(Unmanaged<RetainedClosure>.fromOpaque($0).retain().toOpaque()) }
        context.release = { Unmanaged<RetainedClosure>.fromOpaque($0).release() }
        var scheduler = SCNetworkReachabilityScheduler()
        scheduler.perform = { _, work, argument in work(argument) }
        guard
            __SCNetworkReachabilitySetCallback(
                self,
                { _, _, info in
                    guard let info else { return }
                    Unmanaged<RetainedClosure>.fromOpaque(info).takeUnretainedValue().body()
                },
                &context)
        else { return false }
        if SCNetworkReachabilitySetScheduler(self, &scheduler) { return true }
        _ = __SCNetworkReachabilitySetCallback(self, nil, nil)
        return false
    }

    /// A call that has begun may end after this returns.
    package func unschedule() {
        _ = SCNetworkReachabilitySetScheduler(self, nil)
        _ = __SCNetworkReachabilitySetCallback(self, nil, nil)
    }
}

/// The `info` of the callback's context.
private final class RetainedClosure: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
#endif
