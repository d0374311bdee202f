// SPDX-License-Identifier: MIT

// Foundation's run loops. To the C library they are a scheduler; to them a target is a source, as on Apple's platforms:
// a loop that has one goes on running. One source is on all loops of its target, and the first that runs handles it.

#if os(Linux)
public import CReachability
public import CoreFoundation
public import Foundation
internal import Synchronization

/// Callbacks of the target come on the thread that runs `runLoop`, in that mode. Scheduling twice on one loop and mode
/// counts: unschedule twice. On several loops, each change is delivered by the first that runs.
///
/// - Returns: false, and why in `SCError()`: `kSCStatusInvalidArgument` if the target is on a queue.
@discardableResult
public func SCNetworkReachabilityScheduleWithRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: NSString
) -> Bool {
    RunLoopSchedule.add(RunLoopSchedule.Place(loop: runLoop, mode: runLoopMode), for: target)
}

/// Ends one schedule. On the thread that runs the loop, nothing more is delivered there once this has returned; from
/// another thread, at most the call in flight finishes.
///
/// - Returns: false, and `kSCStatusInvalidArgument` in `SCError()`, if the target is not scheduled so.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: NSString
) -> Bool {
    RunLoopSchedule.remove(RunLoopSchedule.Place(loop: runLoop, mode: runLoopMode), for: target)
}

/// A target's places on run loops.
final class RunLoopSchedule: @unchecked Sendable {
    /// Sendable as CoreFoundation lets any thread signal, wake and schedule.
    struct Place: Hashable, @unchecked Sendable {
        let loop: CFRunLoop
        let mode: String

        init(loop: CFRunLoop, mode: NSString) {
            self.loop = loop
            self.mode = String(describing: mode)
        }

        static func == (one: Place, other: Place) -> Bool {
            one.loop === other.loop && one.mode == other.mode
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(loop))
            hasher.combine(mode)
        }
    }

    private let inbox = Inbox()
    /// CoreFoundation guards it.
    private let source: CFRunLoopSource
    /// How often the target is scheduled on each.
    private let places = Mutex<[Place: Int]>([:])

    /// By target. A scheduled one cannot end, so its address is its own. Held while the C library is called: no hook of
    /// a user's runs in those calls, as the caller holds the target.
    private static let all = Mutex<[UnsafeRawPointer: RunLoopSchedule]>([:])

    private init() {
        var context = CFRunLoopSourceContext()
        context.info = Unmanaged.passUnretained(inbox).toOpaque()
        context.retain = { UnsafeRawPointer(Unmanaged<Inbox>.fromOpaque($0!).retain().toOpaque()) }
        context.release = { Unmanaged<Inbox>.fromOpaque($0!).release() }
        context.perform = { Unmanaged<Inbox>.fromOpaque($0!).takeUnretainedValue().empty() }
        source = CFRunLoopSourceCreate(nil, 0, &context)
    }

    static func exists(for target: SCNetworkReachability) -> Bool {
        all.withLock { $0[key(target)] != nil }
    }

    static func add(_ place: Place, for target: SCNetworkReachability) -> Bool {
        all.withLock { all in
            if let schedule = all[key(target)] {
                schedule.add(place)
                return true
            }
            let schedule = RunLoopSchedule()
            guard schedule.begin(target) else { return false }
            schedule.add(place)
            all[key(target)] = schedule
            return true
        }
    }

    static func remove(_ place: Place, for target: SCNetworkReachability) -> Bool {
        let (wasThere, ended) = all.withLock { all -> (Bool, RunLoopSchedule?) in
            guard let schedule = all[key(target)], schedule.remove(place) else { return (false, nil) }
            guard schedule.places.withLock(\.isEmpty) else { return (true, nil) }
            all[key(target)] = nil
            _ = SCNetworkReachabilitySetScheduler(target, nil)
            return (true, schedule)
        }
        ended?.inbox.close()
        return wasThere || refused()
    }

    private static func key(_ target: SCNetworkReachability) -> UnsafeRawPointer {
        unsafeBitCast(target, to: UnsafeRawPointer.self)
    }

    private func begin(_ target: SCNetworkReachability) -> Bool {
        var scheduler = SCNetworkReachabilityScheduler(
            version: 0,
            info: Unmanaged.passUnretained(self).toOpaque(),
            retain: { UnsafeRawPointer(Unmanaged<RunLoopSchedule>.fromOpaque($0!).retain().toOpaque()) },
            release: { Unmanaged<RunLoopSchedule>.fromOpaque($0!).release() },
            perform: { info, work, argument in
                let schedule = Unmanaged<RunLoopSchedule>.fromOpaque(info!).takeUnretainedValue()
                if schedule.inbox.put(Inbox.Work(perform: work, argument: argument)) { schedule.signal() }
            })
        return SCNetworkReachabilitySetScheduler(target, &scheduler)
    }

    private func add(_ place: Place) {
        places.withLock { $0[place, default: 0] += 1 }
        CFRunLoopAddSource(place.loop, source, coreFoundationMode(place.mode as NSString))
        // What came before, and is still waiting, is now this loop's as well.
        if inbox.isFull { signal() }
    }

    /// False: it was not there.
    private func remove(_ place: Place) -> Bool {
        let times = places.withLock { places -> Int? in
            guard let times = places[place] else { return nil }
            places[place] = times == 1 ? nil : times - 1
            return times
        }
        if times == 1 { CFRunLoopRemoveSource(place.loop, source, coreFoundationMode(place.mode as NSString)) }
        return times != nil
    }

    private func signal() {
        CFRunLoopSourceSignal(source)
        for place in places.withLock({ Array($0.keys) }) { CFRunLoopWakeUp(place.loop) }
    }
}

/// What the C library has handed over and no loop has run yet. Apart from the schedule, as the source keeps it: a loop
/// may be about to run it while another thread ends the schedule.
private final class Inbox: Sendable {
    struct Work: @unchecked Sendable {
        let perform: @convention(c) (UnsafeMutableRawPointer?) -> Void
        let argument: UnsafeMutableRawPointer?

        func callAsFunction() {
            perform(argument)
        }
    }

    private enum State {
        case empty
        case full(Work)
        case closed
    }

    private let state = Mutex(State.empty)

    var isFull: Bool {
        state.withLock { if case .full = $0 { true } else { false } }
    }

    /// True: it waits for a loop. What comes after the end is run at once: it then does nothing but to give memory back.
    func put(_ work: Work) -> Bool {
        let isClosed = state.withLock { state in
            if case .closed = state { return true }
            state = .full(work)
            return false
        }
        if isClosed { work() }
        return !isClosed
    }

    func empty() {
        leave(.empty)?()
    }

    /// No loop is going to run anything any more.
    func close() {
        leave(.closed)?()
    }

    private func leave(_ next: State) -> Work? {
        state.withLock { state in
            defer { if case .closed = state {} else { state = next } }
            if case .full(let work) = state { return work }
            return nil
        }
    }
}
#endif
