// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

/// The paths of one state of the network. Monitors with equal requirements share a path, so it is made once.
final class PathTable: Sendable {
    let state: NetworkState
    private let paths = Mutex<[Requirement: NWPath]>([:])

    init(_ state: NetworkState) {
        self.state = state
    }

    func path(for requirement: Requirement) -> NWPath {
        paths.withLock { paths in
            if let path = paths[requirement] { return path }
            let path = NWPath(state, requirement)
            paths[requirement] = path
            return path
        }
    }
}
#endif
