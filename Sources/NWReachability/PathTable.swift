// SPDX-License-Identifier: MIT

#if os(Linux)
import Synchronization

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
