// SPDX-License-Identifier: MIT

/// The targets that had a callback.
final class ChangedTargets {
    var indices: Set<Int> = []

    func takeAll() -> [Int] {
        defer { indices = [] }
        return indices.sorted()
    }
}
