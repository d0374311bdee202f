// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

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

/// The receivers of one source, and the last update.
package struct ReceiverList {
    package private(set) var latest = NetworkUpdate(number: 0, isWhole: false, paths: PathTable(NetworkState()))
    private var receivers: [any NetworkReceiver] = []

    package init() {}

    var isEmpty: Bool { receivers.isEmpty }
    var count: Int { receivers.count }

    package mutating func add(_ receiver: any NetworkReceiver) {
        receivers.append(receiver)
    }

    /// Returns the receiver, to be released without a lock.
    package mutating func remove(_ receiver: any NetworkReceiver) -> (any NetworkReceiver)? {
        receivers.firstIndex { $0 === receiver }.map { receivers.remove(at: $0) }
    }

    /// Returns nil if nothing has changed. `isNew`: the state differs, so it need not be compared.
    package mutating func set(_ state: NetworkState, isWhole: Bool, isNew: Bool = false) -> Sending? {
        let isEqual = !isNew && latest.paths.state == state
        if isEqual && latest.number > 0 && latest.isWhole == isWhole { return nil }
        let paths = isEqual ? latest.paths : PathTable(state)
        latest = NetworkUpdate(number: latest.number + 1, isWhole: isWhole, paths: paths)
        return Sending(update: latest, receivers: receivers)
    }

    /// An update for all receivers, to be sent without a lock.
    package struct Sending {
        fileprivate let update: NetworkUpdate
        fileprivate let receivers: [any NetworkReceiver]

        package func send() {
            for receiver in receivers { receiver.receive(update) }
        }
    }
}

/// The paths of one state of the network. Monitors with equal requirements share a path, so it is made once.
package final class PathTable: Sendable {
    private struct Paths {
        var any: NWPath?
        var others: [Requirement: NWPath] = [:]
    }

    let state: NetworkState
    private let paths = Mutex(Paths())

    package init(_ state: NetworkState) {
        self.state = state
    }

    func path(for requirement: Requirement) -> NWPath {
        paths.withLock { paths in
            if let path = requirement == .any ? paths.any : paths.others[requirement] { return path }
            let path = NWPath(state, requirement)
            if requirement == .any { paths.any = path } else { paths.others[requirement] = path }
            return path
        }
    }
}
#endif
