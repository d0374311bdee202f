// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability
package import Dispatch
internal import ReachabilityInternals
package import Synchronization

/// Receives the flags of a target, from a start of its watcher to the stop.
package protocol FlagsReceiver: AnyObject, Sendable {
    /// Called on the watcher's queue.
    func receive(_ flags: SCNetworkReachabilityFlags)
    /// The receiver must report nothing from now on. Called with a lock held, so it must call no other code.
    func end()
}

/// Watches one target, between `start` and `stop`.
///
/// No lock is held while the C library is called, as a user's hooks may run in those calls. Instead, one thread at a
/// time makes the calls. Another thread stores what it wants and returns. The first thread then does that, too.
package final class TargetWatcher: Sendable {
    /// nil: the target could not be made, and cannot be watched.
    package let target: SCNetworkReachability?
    private let queue: DispatchQueue
    private let state = Mutex(State())

    private struct State {
        var wanted: WatchContext?
        var current: WatchContext?
        var isBusy = false
    }

    /// `queue` must be serial.
    package init(_ target: SCNetworkReachability?, queue: DispatchQueue) {
        self.target = target
        self.queue = queue
    }

    /// Does not end the receiver: its last delivery may still be queued.
    deinit {
        guard let target, state.withLock({ $0.current != nil }) else { return }
        WatchContext.unschedule(target)
    }

    /// Sends the receiver the current flags, and then each change. The previous receiver ends. With `ifStopped`, a
    /// previous receiver goes on instead, and the new one is not used.
    ///
    /// Returns false, and sets `SCError()`, if the target cannot be watched. Returns true if another thread is busy:
    /// that thread starts the watch. This call does not wait for it, because a hook in that thread may wait for this
    /// caller, or be this caller.
    package func start(_ receiver: any FlagsReceiver, ifStopped: Bool = false) -> Bool {
        guard target != nil else { return failWithInvalidArgument() }
        let context = WatchContext(receiver)
        change(to: context, ifStopped: ifStopped)
        return !context.hasFailed
    }

    /// Ends the receiver.
    package func stop() {
        change(to: nil)
    }

    private func change(to wanted: WatchContext?, ifStopped: Bool = false) {
        guard let target else { return }
        let isOwner = updateState { state in
            if ifStopped, state.wanted != nil { return false }
            state.wanted?.receiver.end()
            state.wanted = wanted
            defer { state.isBusy = true }
            return !state.isBusy
        }
        guard isOwner else { return }
        while let (current, wanted) = nextChange() {
            if current != nil { WatchContext.unschedule(target) }
            let started = wanted?.start(target, queue) == true ? wanted : nil
            updateState { state in
                state.current = started
                if started == nil, state.wanted === wanted { state.wanted = nil }
            }
        }
    }

    /// The context to end, and the context to start in its place. nil: no change is left.
    private func nextChange() -> (current: WatchContext?, wanted: WatchContext?)? {
        state.withLock { state in
            state.isBusy = state.current !== state.wanted
            return state.isBusy ? (state.current, state.wanted) : nil
        }
    }

    /// Changes the state. Contexts that leave it are released after the lock, as they hold a user's closure.
    private func updateState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, before) = state.withLock { state in
            let before = state
            return (body(&state), before)
        }
        return withExtendedLifetime(before) { result }
    }
}

/// The `info` of a target's context. It holds neither the target nor the watcher, so there is no reference cycle.
private final class WatchContext: Sendable {
    let receiver: any FlagsReceiver
    private let failure = Atomic(false)

    var hasFailed: Bool { failure.load(ordering: .sequentiallyConsistent) }

    init(_ receiver: any FlagsReceiver) {
        self.receiver = receiver
    }

    func start(_ target: SCNetworkReachability, _ queue: DispatchQueue) -> Bool {
        guard schedule(target, queue) else {
            failure.store(true, ordering: .sequentiallyConsistent)
            return false
        }
        // On the queue of the callbacks, so that the first flags and those of callbacks keep their order.
        queue.async { [receiver] in
            if let flags = target.flags { receiver.receive(flags) }
        }
        return true
    }

    private func schedule(_ target: SCNetworkReachability, _ queue: DispatchQueue) -> Bool {
        var context = CNetworkReachabilityContext(retaining: self)
        let callback: SCNetworkReachabilityCallBack = { _, flags, info in
            guard let info else { return }
            CallbackInfo.object(WatchContext.self, at: info).receiver.receive(flags)
        }
        // The queue first: if the target is scheduled elsewhere, this fails, and the target keeps its callback.
        guard SCNetworkReachabilitySetDispatchQueue(target, queue) else { return false }
        if __SCNetworkReachabilitySetCallback(target, callback, &context) { return true }
        SCNetworkReachabilitySetDispatchQueue(target, nil)
        return false
    }

    static func unschedule(_ target: SCNetworkReachability) {
        SCNetworkReachabilitySetCallback(target, nil, nil)
        SCNetworkReachabilitySetDispatchQueue(target, nil)
    }
}

/// One start of a manager, until its stop. Turns flags into statuses, and delivers each status that differs from the
/// last one on the manager's queue.
package final class DeliverySession<Status: Equatable & Sendable>: FlagsReceiver {
    private let queue: DispatchQueue
    private let status: @Sendable (SCNetworkReachabilityFlags) -> Status
    private let deliver: @Sendable (Status, DeliverySession) -> Void
    private let last = Mutex<Status?>(nil)
    private let isEnded = Atomic(false)

    /// - Parameters:
    ///   - queue: The queue of the deliveries. They do not overlap, not even on a concurrent queue.
    ///   - deliver: Delivers a status. It must check `hasEnded` before each user's closure that it calls.
    package init(
        queue: DispatchQueue,
        status: @escaping @Sendable (SCNetworkReachabilityFlags) -> Status,
        deliver: @escaping @Sendable (Status, DeliverySession) -> Void
    ) {
        // A serial queue in between costs nothing that can be measured.
        self.queue = DispatchQueue(label: "deliveries", target: queue)
        self.status = status
        self.deliver = deliver
    }

    package var hasEnded: Bool { isEnded.load(ordering: .sequentiallyConsistent) }

    /// Drops the deliveries that are queued, too.
    package func end() {
        isEnded.store(true, ordering: .sequentiallyConsistent)
    }

    package func receive(_ flags: SCNetworkReachabilityFlags) {
        guard !hasEnded else { return }
        let status = status(flags)
        let isNew = last.withLock { last in
            defer { last = status }
            return last != status
        }
        guard isNew else { return }
        queue.async { if !self.hasEnded { self.deliver(status, self) } }
    }
}

extension Mutex where Value: Sendable {
    /// Sets a part of the value. The old part may hold a user's objects, so it is released after the lock.
    package borrowing func set<Part: Sendable>(_ part: any WritableKeyPath<Value, Part> & Sendable, to new: Part) {
        _ = withLock { value in
            let old = value[keyPath: part]
            value[keyPath: part] = new
            return old
        }
    }
}
#endif
