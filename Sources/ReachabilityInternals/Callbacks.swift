// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability

/// A Swift object as the `info` of a callback in C, and the hooks that keep it.
package enum CallbackInfo {
    package static func pointer(to object: AnyObject) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    @inlinable
    package static func object<Object: AnyObject>(_ type: Object.Type, at info: UnsafeRawPointer) -> Object {
        Unmanaged<Object>.fromOpaque(info).takeUnretainedValue()
    }

    package static func retain(_ info: UnsafeRawPointer) -> UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged<AnyObject>.fromOpaque(info).retain().toOpaque())
    }

    package static func release(_ info: UnsafeRawPointer) {
        Unmanaged<AnyObject>.fromOpaque(info).release()
    }
}

extension CNetworkReachabilityContext {
    /// With both hooks, the object of a call that has begun outlives the callback's removal.
    package init(retaining object: AnyObject) {
        self.init()
        info = CallbackInfo.pointer(to: object)
        retain = { CallbackInfo.retain($0) }
        release = { CallbackInfo.release($0) }
    }
}

extension SCNetworkReachabilityScheduler {
    /// `perform` gets the object as its `info`: see `CallbackInfo.object(_:at:)`.
    package init(
        retaining object: AnyObject,
        perform:
            @escaping @convention(c) (
                UnsafeMutableRawPointer?, (@convention(c) (UnsafeMutableRawPointer?) -> Void), UnsafeMutableRawPointer?
            ) -> Void
    ) {
        self.init()
        info = CallbackInfo.pointer(to: object)
        retain = { CallbackInfo.retain($0!) }
        release = { CallbackInfo.release($0!) }
        self.perform = perform
    }
}

extension SCNetworkReachability {
    /// Calls `onChange` on the library's own thread at every change: the scheduler runs the work at once, so no thread
    /// switch lies between the kernel's message and this call. Returns false if the target cannot be scheduled.
    package func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        let closure = Closure(onChange)
        defer { withExtendedLifetime(closure) {} }
        var context = CNetworkReachabilityContext(retaining: closure)
        var scheduler = SCNetworkReachabilityScheduler()
        scheduler.perform = { _, work, argument in work(argument) }
        guard
            __SCNetworkReachabilitySetCallback(
                self,
                { _, _, info in
                    guard let info else { return }
                    CallbackInfo.object(Closure.self, at: info).body()
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

/// A closure as an object.
private final class Closure: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
#endif
