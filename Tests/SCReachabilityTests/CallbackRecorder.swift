// SPDX-License-Identifier: MIT

import SCReachability
import Synchronization
import TestSupport

/// A callback that records the flags of its calls, and counts its context's hooks.
final class CallbackRecorder: Sendable {
    private let flags = Recorder<SCNetworkReachabilityFlags>()
    private let hooks = Mutex((retains: 0, releases: 0))
    private let onCall: @Sendable (SCNetworkReachability) -> Void

    var retains: Int { hooks.withLock(\.retains) }
    var releases: Int { hooks.withLock(\.releases) }

    init(onCall: @escaping @Sendable (SCNetworkReachability) -> Void = { _ in }) {
        self.onCall = onCall
    }

    /// Waits for the next call.
    func next() async -> SCNetworkReachabilityFlags? {
        await flags.next()
    }

    /// Returns the flags of the calls that `next()` has not returned, and ends the recording.
    func rest() async -> [SCNetworkReachabilityFlags] {
        await flags.rest()
    }

    func setCallback(of target: SCNetworkReachability) -> Bool {
        var context = SCNetworkReachabilityContext(
            version: 0,
            info: Unmanaged.passUnretained(self).toOpaque(),
            retain: { info in
                let recorder = Unmanaged<CallbackRecorder>.fromOpaque(info).retain()
                recorder.takeUnretainedValue().hooks.withLock { $0.retains += 1 }
                return info
            },
            release: { info in
                let recorder = Unmanaged<CallbackRecorder>.fromOpaque(info)
                recorder.takeUnretainedValue().hooks.withLock { $0.releases += 1 }
                recorder.release()
            },
            copyDescription: { _ in Unmanaged.passRetained("a recorder" as CFString) })
        return SCNetworkReachabilitySetCallback(
            target,
            { target, flags, info in
                let recorder = Unmanaged<CallbackRecorder>.fromOpaque(info!).takeUnretainedValue()
                recorder.onCall(target)
                recorder.flags.record(flags)
            }, &context)
    }
}
