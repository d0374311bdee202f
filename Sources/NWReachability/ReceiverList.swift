// SPDX-License-Identifier: MIT

#if os(Linux)
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
#endif
