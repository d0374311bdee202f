// SPDX-License-Identifier: MIT

import Dispatch

/// A manager of one of the modules, as storms and races see it. Whoever lets go of it lets go of the manager.
protocol Subject: Sendable {
    /// Watches an address, in the namespace of the calling thread. `queue`: where it delivers, if that can be chosen.
    init(address: String, queue: DispatchQueue) throws
    /// Where the library's callbacks come.
    var arrivals: DispatchQueue { get }
    /// Where `tell` is called.
    var deliveries: DispatchQueue { get }
    /// `tell`: whether the address is reachable.
    func start(_ tell: @escaping @Sendable (Bool) -> Void)
    func stop()
}

extension Subject {
    /// Waits until `tell` has been called for all callbacks that came.
    func settle() {
        // What arrives goes by a queue of the start's own, which may have `arrivals` for its target, too.
        for queue in [arrivals, arrivals, deliveries] { queue.sync {} }
    }
}
