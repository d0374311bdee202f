// SPDX-License-Identifier: MIT

// Schedules targets on Foundation's run loops. For the C library, the run loops of a target are one scheduler. For a
// run loop, a target is a source, as on Apple's platforms: a loop that has a source keeps running. All loops of a
// target share one source, and the first loop that runs handles it.

#if os(Linux)
public import CReachability
public import CoreFoundation
public import Foundation
internal import ReachabilityInternals
internal import Synchronization

/// Schedules the target on a run loop: its callbacks come on the thread that runs `runLoop` in that mode.
///
/// Schedules are counted: a target that is scheduled twice on one loop and mode must be unscheduled twice. If a target
/// is on several loops, each change is delivered once, by the first loop that runs.
///
/// - Returns: false, and `kSCStatusInvalidArgument` in `SCError()`, if the target is on a queue.
@discardableResult
public func SCNetworkReachabilityScheduleWithRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: NSString
) -> Bool {
    RunLoopSchedule.add(RunLoopSchedule.LoopAndMode(loop: runLoop, mode: runLoopMode), for: target)
}

/// Ends one schedule of the target.
///
/// If you call this on the thread that runs the loop, no callback comes there after it returns. If you call it on
/// another thread, a callback that has begun may finish later, and no other begins.
///
/// - Returns: false, and `kSCStatusInvalidArgument` in `SCError()`, if the target has no such schedule.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: NSString
) -> Bool {
    RunLoopSchedule.remove(RunLoopSchedule.LoopAndMode(loop: runLoop, mode: runLoopMode), for: target)
}

/// The schedules of one target on run loops.
// Unchecked Sendable because of `source`: CoreFoundation's own lock guards it. The other properties are constants or
// have a mutex.
final class RunLoopSchedule: @unchecked Sendable {
    // Unchecked Sendable: both properties are constants. CoreFoundation's own lock guards the loop, and any thread may
    // wake it and change its sources.
    struct LoopAndMode: Hashable, @unchecked Sendable {
        let loop: CFRunLoop
        let mode: String

        init(loop: CFRunLoop, mode: NSString) {
            self.loop = loop
            self.mode = String(describing: mode)
        }

        static func == (one: LoopAndMode, other: LoopAndMode) -> Bool {
            one.loop === other.loop && one.mode == other.mode
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(loop))
            hasher.combine(mode)
        }
    }

    private let workSlot = WorkSlot()
    private let source: CFRunLoopSource
    /// How often the target is scheduled on each loop and mode.
    private let counts = Mutex<[LoopAndMode: Int]>([:])

    /// By the address of the target. A scheduled target lives, so its address is unique. The lock is held while the C
    /// library is called: no user's hook runs in those calls, as the caller holds the target.
    private static let all = Mutex<[UnsafeRawPointer: RunLoopSchedule]>([:])

    private init() {
        var context = CFRunLoopSourceContext()
        context.info = CallbackInfo.pointer(to: workSlot)
        context.retain = { CallbackInfo.retain($0!) }
        context.release = { CallbackInfo.release($0!) }
        context.perform = { CallbackInfo.object(WorkSlot.self, at: $0!).perform() }
        source = CFRunLoopSourceCreate(nil, 0, &context)
    }

    static func exists(for target: SCNetworkReachability) -> Bool {
        all.withLock { $0[key(target)] != nil }
    }

    static func add(_ pair: LoopAndMode, for target: SCNetworkReachability) -> Bool {
        all.withLock { all in
            if let schedule = all[key(target)] {
                schedule.add(pair)
                return true
            }
            let schedule = RunLoopSchedule()
            guard schedule.setScheduler(of: target) else { return false }
            schedule.add(pair)
            all[key(target)] = schedule
            return true
        }
    }

    static func remove(_ pair: LoopAndMode, for target: SCNetworkReachability) -> Bool {
        let (isRemoved, ended) = all.withLock { all -> (Bool, RunLoopSchedule?) in
            guard let schedule = all[key(target)], schedule.remove(pair) else { return (false, nil) }
            guard schedule.counts.withLock(\.isEmpty) else { return (true, nil) }
            all[key(target)] = nil
            _ = SCNetworkReachabilitySetScheduler(target, nil)
            return (true, schedule)
        }
        ended?.workSlot.close()
        return isRemoved || failWithInvalidArgument()
    }

    private static func key(_ target: SCNetworkReachability) -> UnsafeRawPointer {
        unsafeBitCast(target, to: UnsafeRawPointer.self)
    }

    private func setScheduler(of target: SCNetworkReachability) -> Bool {
        var scheduler = SCNetworkReachabilityScheduler(retaining: self) { info, work, argument in
            let schedule = CallbackInfo.object(RunLoopSchedule.self, at: info!)
            if schedule.workSlot.put(SchedulerWork(body: work, argument: argument)) { schedule.signalSource() }
        }
        return SCNetworkReachabilitySetScheduler(target, &scheduler)
    }

    private func add(_ pair: LoopAndMode) {
        counts.withLock { $0[pair, default: 0] += 1 }
        CFRunLoopAddSource(pair.loop, source, coreFoundationMode(pair.mode as NSString))
        // Work may be due from before. The new loop may run it, too.
        if workSlot.isFull { signalSource() }
    }

    /// Returns false if there is no such schedule.
    private func remove(_ pair: LoopAndMode) -> Bool {
        let count = counts.withLock { counts -> Int? in
            guard let count = counts[pair] else { return nil }
            counts[pair] = count == 1 ? nil : count - 1
            return count
        }
        if count == 1 { CFRunLoopRemoveSource(pair.loop, source, coreFoundationMode(pair.mode as NSString)) }
        return count != nil
    }

    private func signalSource() {
        CFRunLoopSourceSignal(source)
        for pair in counts.withLock({ Array($0.keys) }) { CFRunLoopWakeUp(pair.loop) }
    }
}

/// A function of the C library, for a loop to call once.
// Unchecked Sendable: both properties are constants, and one thread at a time has the work.
private struct SchedulerWork: @unchecked Sendable {
    let body: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let argument: UnsafeMutableRawPointer?

    func perform() {
        body(argument)
    }
}

/// The work that no loop has run yet: at most one, as the C library hands over no more.
///
/// Not a part of the schedule, because the source keeps it: a loop may run the work while another thread ends the
/// schedule.
private final class WorkSlot: Sendable {
    private enum State {
        case empty
        case full(SchedulerWork)
        case closed
    }

    private let state = Mutex(State.empty)

    var isFull: Bool {
        state.withLock { if case .full = $0 { true } else { false } }
    }

    /// Returns true if the work now waits for a loop. After `close()` the work is run at once: it then only frees
    /// memory.
    func put(_ work: SchedulerWork) -> Bool {
        let isClosed = state.withLock { state in
            if case .closed = state { return true }
            state = .full(work)
            return false
        }
        if isClosed { work.perform() }
        return !isClosed
    }

    func perform() {
        takeWork(leaving: .empty)?.perform()
    }

    /// Runs the work, as no loop will run it.
    func close() {
        takeWork(leaving: .closed)?.perform()
    }

    private func takeWork(leaving next: State) -> SchedulerWork? {
        state.withLock { state in
            defer { if case .closed = state {} else { state = next } }
            if case .full(let work) = state { return work }
            return nil
        }
    }
}
#endif
