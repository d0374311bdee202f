// SPDX-License-Identifier: MIT

#if os(Linux)
package import SCReachability
internal import Synchronization

/// Who is told of a target's flags, from a start to its stop.
package protocol FlagsReceiver: AnyObject, Sendable {
    /// Called on the watcher's queue.
    func receive(_ flags: SCNetworkReachabilityFlags)
    /// From here on nothing is to be told. Called with a lock held: it must call nobody.
    func end()
}

/// Watches one target, between `start` and `stop`.
///
/// No lock is held while the C library is called, as hooks of a user's may run there. So one thread at a time makes the
/// calls; another that comes meanwhile leaves word of what it wants, and the first one sees to that as well.
package final class Watcher: Sendable {
    /// nil: it could not be made, and cannot be watched.
    package let target: SCNetworkReachability?
    private let queue: DispatchQueue
    private let state = Mutex(State())

    private struct State {
        var wanted: Watch?
        var current: Watch?
        var isBusy = false
    }

    /// `queue`: a serial one.
    package init(_ target: SCNetworkReachability?, queue: DispatchQueue) {
        self.target = target
        self.queue = queue
    }

    /// What the receiver was told already may still be on its way.
    deinit {
        guard let target, state.withLock({ $0.current != nil }) else { return }
        Watch.end(target)
    }

    /// From now on the receiver is told: of the flags as they are, and then when they change. The one before has ended;
    /// with `ifStopped`, it goes on instead. False, and why in `SCError()`: the target cannot be watched.
    ///
    /// True where another thread is busy: that one begins the watch. Its turn is not waited for, as a hook that runs there
    /// may wait for the caller in its turn, or be the caller.
    package func start(_ receiver: any FlagsReceiver, ifStopped: Bool = false) -> Bool {
        guard target != nil else { return refused() }
        let watch = Watch(receiver)
        settle(on: watch, ifStopped: ifStopped)
        return !watch.hasFailed
    }

    /// The receiver has ended.
    package func stop() {
        settle(on: nil)
    }

    private func settle(on watch: Watch?, ifStopped: Bool = false) {
        guard let target else { return }
        let mayAct = change { state in
            if ifStopped, state.wanted != nil { return false }
            state.wanted?.receiver.end()
            state.wanted = watch
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard mayAct else { return }
        while let (current, wanted) = next() {
            if current != nil { Watch.end(target) }
            let begun = wanted?.begin(target, queue) == true ? wanted : nil
            change { state in
                state.current = begun
                if begun == nil, state.wanted === wanted { state.wanted = nil }
            }
        }
    }

    /// What is to be ended, and begun in its place; nil: all is as it was wanted.
    private func next() -> (current: Watch?, wanted: Watch?)? {
        state.withLock { state in
            state.isBusy = state.current !== state.wanted
            return state.isBusy ? (state.current, state.wanted) : nil
        }
    }

    /// What the state lets go of, a user's listener with it, ends when the lock has been let go of.
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, before) = state.withLock { state in
            let before = state
            return (body(&state), before)
        }
        return withExtendedLifetime(before) { result }
    }
}

/// The `info` of a target's context, which owns it. Holds neither target nor watcher.
private final class Watch: Sendable {
    let receiver: any FlagsReceiver
    private let failure = Atomic(false)

    var hasFailed: Bool { failure.load(ordering: .sequentiallyConsistent) }

    init(_ receiver: any FlagsReceiver) {
        self.receiver = receiver
    }

    func begin(_ target: SCNetworkReachability, _ queue: DispatchQueue) -> Bool {
        guard schedule(target, queue) else {
            failure.store(true, ordering: .sequentiallyConsistent)
            return false
        }
        // On the queue of the callbacks, so that it cannot overtake a newer answer, nor be overtaken by an older one.
        queue.async { [receiver] in
            if let flags = target.flags { receiver.receive(flags) }
        }
        return true
    }

    private func schedule(_ target: SCNetworkReachability, _ queue: DispatchQueue) -> Bool {
        var context = SCNetworkReachabilityContext(
            version: 0,
            info: Unmanaged.passUnretained(self).toOpaque(),
            retain: { UnsafeRawPointer(Unmanaged<Watch>.fromOpaque($0).retain().toOpaque()) },
            release: { Unmanaged<Watch>.fromOpaque($0).release() },
            copyDescription: nil)
        let callback: SCNetworkReachabilityCallBack = { _, flags, info in
            guard let info else { return }
            Unmanaged<Watch>.fromOpaque(info).takeUnretainedValue().receiver.receive(flags)
        }
        // The queue first: a target that is scheduled elsewhere keeps the callback that it has there.
        guard SCNetworkReachabilitySetDispatchQueue(target, queue) else { return false }
        if SCNetworkReachabilitySetCallback(target, callback, &context) { return true }
        SCNetworkReachabilitySetDispatchQueue(target, nil)
        return false
    }

    static func end(_ target: SCNetworkReachability) {
        SCNetworkReachabilitySetCallback(target, nil, nil)
        SCNetworkReachabilitySetDispatchQueue(target, nil)
    }
}
#endif
