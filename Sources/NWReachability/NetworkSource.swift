// SPDX-License-Identifier: MIT

#if os(Linux)
/// Where monitors get the state of the network from: the kernel, or a script.
///
/// No call runs a user's code.
package protocol NetworkSource: AnyObject, Sendable {
    /// Sends the receiver each state from now on, until `remove`. Returns the current one.
    func add(_ receiver: any NetworkReceiver) -> NetworkUpdate
    /// A call of the receiver that has begun may end after this returns.
    func remove(_ receiver: any NetworkReceiver)
}

package protocol NetworkReceiver: AnyObject, Sendable {
    /// Called on any thread, also out of order. Must not block it.
    func receive(_ update: NetworkUpdate)
}

/// A state of the network. A later update of the same source has a greater number.
package struct NetworkUpdate: Sendable {
    let number: UInt64
    /// Whether all interfaces are known, not only those that the kernel chooses.
    let isWhole: Bool
    let paths: PathTable

    package init(number: UInt64, isWhole: Bool, paths: PathTable) {
        self.number = number
        self.isWhole = isWhole
        self.paths = paths
    }

    func path(for requirement: Requirement) -> NWPath { paths.path(for: requirement) }
}
#endif
