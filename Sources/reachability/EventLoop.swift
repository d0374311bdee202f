// SPDX-License-Identifier: MIT

import CReachability
import Glibc

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
