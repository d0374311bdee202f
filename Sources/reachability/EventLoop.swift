// SPDX-License-Identifier: MIT

import CReachability
import Glibc
import Synchronization

/// The main thread's run loop, with the signals, the keys, the reader and the deadline that a command waits for.
struct EventLoop {
    enum Event: Equatable {
        /// Targets had callbacks.
        case targets
        case signals(Set<Int32>)
        case keys(String)
        case timeout
        /// Nobody reads standard output any more.
        case readerGone
    }

    let runLoop: SCRunLoop
    let keyboard: Keyboard
    private let watchesReader: Bool

    /// `watchesReader`: for a command that prints while it runs, and is of no use without a reader.
    init(
        signals: [Int32] = [], watchesReader: Bool = false, keyboard: Keyboard = Keyboard()
    ) throws(ToolError) {
        guard let runLoop = SCRunLoopGetCurrent() else { throw ToolError(of: "run loop") }
        self.runLoop = runLoop
        self.watchesReader = watchesReader
        self.keyboard = keyboard
        // Otherwise a line for a reader that is gone would end the process.
        Signals.take(signals + (watchesReader ? [SIGPIPE] : []), waking: runLoop)
    }

    /// Handles what is due, and does not wait. The first time, it also evaluates what a schedule leaves out, such as the
    /// other end of a tunnel. Returns the number of callbacks.
    @discardableResult
    func perform() throws(ToolError) -> Int32 {
        let handled = SCRunLoopPerform(runLoop, 0)
        if handled < 0 { throw ToolError(of: "run loop") }
        return handled
    }

    /// Waits for the next event; without a deadline, for ever.
    func next(until deadline: ContinuousClock.Instant? = nil) throws(ToolError) -> Event {
        while true {
            // poll(2) ignores negative descriptors, and always reports a broken pipe.
            var descriptors = [
                pollfd(fd: SCRunLoopGetFileDescriptor(runLoop), events: Int16(POLLIN), revents: 0),
                pollfd(fd: watchesReader ? STDOUT_FILENO : -1, events: 0, revents: 0),
                pollfd(fd: keyboard.isOpen ? keyboard.descriptor : -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&descriptors, nfds_t(descriptors.count), deadline.map(milliseconds(until:)) ?? -1)
            if count < 0 && errno != EINTR { throw ToolError(of: "run loop", status: errno) }
            let handled = try perform()
            let signals = Signals.taken()
            if !signals.isEmpty { return .signals(signals) }
            let isBroken = count > 0 && descriptors[1].revents & Int16(POLLERR | POLLHUP) != 0
            if watchesReader && (isBroken || StandardOutput.result == .readerGone) { return .readerGone }
            if count > 0 && descriptors[2].revents != 0 {
                if let keys = keyboard.keys() { return .keys(keys) }
                keyboard.close()
            }
            if handled > 0 { return .targets }
            if let deadline, deadline <= .now { return .timeout }
        }
    }
}

/// Rounded up, so that no wait ends too early. Limited to what poll(2) takes: the caller waits again.
private func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
    let (seconds, attoseconds) = ContinuousClock.now.duration(to: deadline).components
    if seconds < 0 || attoseconds < 0 { return 0 }
    return Int32(min(seconds, 1_000_000)) * 1000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
}

/// Turns signals into events of the run loop.
enum Signals {
    private static let received = Atomic<UInt64>(0)
    /// Written once, before the first handler can read it.
    nonisolated(unsafe) private static var runLoop: SCRunLoop?

    /// Takes over `signals`: each wakes the loop. A signal that the process inherited as ignored (nohup, a background
    /// job) stays ignored, except SIGCHLD: the kernel would not keep the status of children for waitpid(2).
    static func take(_ signals: [Int32], waking runLoop: SCRunLoop) {
        self.runLoop = runLoop
        _ = received.load(ordering: .relaxed)  // the first use of a static takes a lock, which a handler must not
        for signal in signals where signal == SIGCHLD || !isIgnored(signal) {
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { signal in
                Signals.received.bitwiseOr(1 << UInt64(signal), ordering: .relaxed)
                if let runLoop = Signals.runLoop { SCRunLoopWakeUp(runLoop) }
            }
            sigaction(signal, &action, nil)
            // The parent may have blocked it for itself, as libdispatch does in its threads.
            var taken = sigset_t()
            sigemptyset(&taken)
            sigaddset(&taken, signal)
            sigprocmask(SIG_UNBLOCK, &taken, nil)
        }
    }

    /// Gives a signal its default effect again.
    static func restore(_ signal: Int32) {
        _ = Glibc.signal(signal, SIG_DFL)
    }

    /// The signals since the last call.
    static func taken() -> Set<Int32> {
        let bits = received.exchange(0, ordering: .relaxed)
        return Set((1..<64).filter { bits & (1 << UInt64($0)) != 0 })
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        let handler = action.__sigaction_handler.sa_handler
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
