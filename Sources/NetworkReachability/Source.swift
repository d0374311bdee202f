// SPDX-License-Identifier: MIT

#if os(Linux)
/// Where a monitor's paths come from: the kernel, or a script.
///
/// A monitor starts and stops it in turns, one at a time; `path()` is called whenever it likes, from any thread. Nothing
/// that is called here may run a user's code: the monitor holds a lock.
package protocol Source: Sendable {
    /// The path now; nil when that cannot be found out.
    func path() -> ReachabilityPath?

    /// From now on `onChange` is called when `path()` may answer something else, from any thread.
    func start(onChange: @escaping @Sendable () -> Void)

    /// A call of `onChange` that is under way may still end after this.
    func stop()
}
#endif
