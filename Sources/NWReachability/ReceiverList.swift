// SPDX-License-Identifier: MIT

#if os(Linux)
/// The receivers of one source, and the last update.
struct ReceiverList {
    private(set) var latest = NetworkUpdate(number: 0, isWhole: false, paths: PathTable(NetworkState()))
    private var receivers: [ObjectIdentifier: any NetworkReceiver] = [:]

    var isEmpty: Bool { receivers.isEmpty }
    var count: Int { receivers.count }
    var all: [any NetworkReceiver] { Array(receivers.values) }

    mutating func add(_ receiver: any NetworkReceiver) {
        receivers[ObjectIdentifier(receiver)] = receiver
    }

    /// Returns the receiver, to be released without a lock.
    mutating func remove(_ receiver: any NetworkReceiver) -> (any NetworkReceiver)? {
        receivers.removeValue(forKey: ObjectIdentifier(receiver))
    }

    /// Returns false if nothing has changed.
    mutating func set(_ state: NetworkState, isWhole: Bool) -> Bool {
        if latest.number > 0, latest.isWhole == isWhole, latest.paths.state == state { return false }
        let paths = latest.paths.state == state ? latest.paths : PathTable(state)
        latest = NetworkUpdate(number: latest.number + 1, isWhole: isWhole, paths: paths)
        return true
    }
}
#endif
