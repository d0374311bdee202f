// SPDX-License-Identifier: MIT

#if os(Linux)
package import Synchronization

extension Mutex where Value: Sendable {
    /// Sets a part of the value. The old part may hold a user's objects, so it is released after the lock.
    package borrowing func set<Part: Sendable>(_ part: any WritableKeyPath<Value, Part> & Sendable, to new: Part) {
        _ = withLock { value in
            let old = value[keyPath: part]
            value[keyPath: part] = new
            return old
        }
    }
}
#endif
