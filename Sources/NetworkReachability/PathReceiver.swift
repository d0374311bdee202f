// SPDX-License-Identifier: MIT

#if os(Linux)
/// Receives the paths of a monitor: for one iterator, or for one observer.
protocol PathReceiver: AnyObject, Sendable {
    func receive(_ update: PathUpdate)
    /// The monitor sends nothing more.
    func close()
}

/// A path that a monitor sends to its receivers. A later update has a greater number.
struct PathUpdate: Sendable {
    var path: ReachabilityPath
    var number: UInt64
}

/// The newest path that one receiver has not taken. Empty if that path equals the last one taken.
struct UndeliveredPath {
    private var newest: ReachabilityPath?
    private var taken: ReachabilityPath?
    private var number: UInt64 = 0

    /// Updates may arrive out of order, as the threads that bring them hold no lock.
    mutating func put(_ update: PathUpdate) {
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
#endif
