// SPDX-License-Identifier: MIT

import CReachability
import Glibc
import Synchronization

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
