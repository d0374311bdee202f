// Code as it is written for Apple's SystemConfiguration: a manager with a weak box as context. It is called on a queue.

import Foundation
import SystemConfiguration

final class Watcher {
    private final class WeakWatcher {
        weak var watcher: Watcher?
        init(_ watcher: Watcher) { self.watcher = watcher }
    }

    let reachability: SCNetworkReachability
    private let queue = DispatchQueue(label: "watcher")
    private let onFlags: (SCNetworkReachabilityFlags) -> Void

    init?(host: String, onFlags: @escaping (SCNetworkReachabilityFlags) -> Void) {
        guard let reachability = SCNetworkReachabilityCreateWithName(nil, host) else { return nil }
        self.reachability = reachability
        self.onFlags = onFlags
    }

    deinit {
        stop()
    }

    func start() -> Bool {
        let box = WeakWatcher(self)
        defer { withExtendedLifetime(box) {} }
        var context = SCNetworkReachabilityContext(
            version: 0,
            info: Unmanaged.passUnretained(box).toOpaque(),
            retain: { info in
                let unmanaged = Unmanaged<WeakWatcher>.fromOpaque(info)
                _ = unmanaged.retain()
                return UnsafeRawPointer(unmanaged.toOpaque())
            },
            release: { info in
                Unmanaged<WeakWatcher>.fromOpaque(info).release()
            },
            copyDescription: { info in
                let watcher = Unmanaged<WeakWatcher>.fromOpaque(info).takeUnretainedValue().watcher
                let description = watcher.map { "\($0)" } ?? "nil"
                return Unmanaged.passRetained(description as CFString)
            }
        )
        let callback: SCNetworkReachabilityCallBack = { _, flags, info in
            guard let info = info else { return }
            Unmanaged<WeakWatcher>.fromOpaque(info).takeUnretainedValue().watcher?.onFlags(flags)
        }
        let isCalled = SCNetworkReachabilitySetCallback(reachability, callback, &context)
        let isQueued = SCNetworkReachabilitySetDispatchQueue(reachability, queue)
        return isCalled && isQueued
    }

    func stop() {
        SCNetworkReachabilitySetCallback(reachability, nil, nil)
        SCNetworkReachabilitySetDispatchQueue(reachability, nil)
    }
}
