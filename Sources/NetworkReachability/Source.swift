// SPDX-License-Identifier: MIT

#if os(Linux)
/// Where a monitor gets its paths from: the kernel, or a script.
///
/// The monitor alternates `start` and `stop`, one call at a time. It calls `path()` at any time, on any thread. It may
/// hold a lock in each call, so none of them may run a user's code.
package protocol Source: Sendable {
    /// The path now. nil: it cannot be determined.
    func path() -> ReachabilityPath?

    /// From now on, calls `onChange` from any thread when `path()` may have changed.
    func start(onChange: @escaping @Sendable () -> Void)

    /// A call of `onChange` that has begun may end after this returns.
    func stop()
}
#endif
