// SPDX-License-Identifier: MIT

#if os(Linux)
/// A path that listeners are told of. A later one has a greater number.
struct Update: Sendable {
    var path: ReachabilityPath
    var number: UInt64
}

/// What one listener has not been told yet: the newest path, if it is another than the last that it took.
struct Inbox {
    private var newest: ReachabilityPath?
    private var taken: ReachabilityPath?
    private var number: UInt64 = 0

    /// Updates may come out of their order: threads that bring them hold no lock.
    mutating func put(_ update: Update) {
        guard update.number > number else { return }
        number = update.number
        newest = update.path == taken ? nil : update.path
    }

    var isEmpty: Bool { newest == nil }

    mutating func take() -> ReachabilityPath? {
        guard let path = newest else { return nil }
        (newest, taken) = (nil, path)
        return path
    }
}

/// An iterator's end of a monitor, or an observer's.
protocol Listener: AnyObject, Sendable {
    func receive(_ update: Update)
    /// Nothing is received any more.
    func close()
}
#endif
