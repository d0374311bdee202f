// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// The paths of one state of the network. Monitors with equal requirements share a path, so it is made once.
package final class PathTable: Sendable {
    let state: NetworkState
    /// There are few requirements: a search is faster than hashing.
    private let paths = Mutex<[(requirement: Requirement, path: NWPath)]>([])

    package init(_ state: NetworkState) {
        self.state = state
    }

    func path(for requirement: Requirement) -> NWPath {
        paths.withLock { paths in
            if let entry = paths.first(where: { $0.requirement == requirement }) { return entry.path }
            let path = NWPath(state, requirement)
            paths.append((requirement, path))
            return path
        }
    }
}
#endif
