// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch

/// Reports the way out of this machine, and every change of it, in the shape of Network.framework's monitor.
///
/// ```swift
/// let monitor = NWPathMonitor()
/// monitor.pathUpdateHandler = { path in print(path) }
/// monitor.start(queue: DispatchQueue(label: "network"))
/// ```
///
/// A started monitor lives until ``cancel()``, also if the program keeps no reference to it. One that was never started is
/// freed with its last reference.
///
/// A monitor belongs to the network namespace of the thread that makes it.
public final class NWPathMonitor: Sendable {
    let follower: PathFollower

    private init(_ requirement: Requirement) {
        follower = PathFollower(KernelSource.shared(NetworkNamespace()), requirement)
    }

    package convenience init(source: any NetworkSource) {
        self.init(source, .any)
    }

    init(_ source: any NetworkSource, _ requirement: Requirement) {
        follower = PathFollower(source, requirement)
    }

    /// Follows the interfaces that the kernel chooses. Opens nothing, starts no thread, and never fails. Only if the
    /// thread is in another network namespace than its process does it open that namespace.
    public convenience init() {
        self.init(.any)
    }

    /// Only interfaces of this type count. `.loopback`: satisfied while lo is up.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(.required(requiredInterfaceType))
    }

    /// Interfaces of these types do not count.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(Requirement(prohibiting: prohibitedInterfaceTypes))
    }

    /// The latest path. Before the monitor is started, the path is unsatisfied and has no interfaces, whatever the
    /// network is. Afterwards, this only loads a value. From `start(queue:)` on, the status, the families and the first
    /// interface are right; the other interfaces are known before the first call of the handler.
    public var currentPath: NWPath { follower.path }

    /// Called on the queue: once with the current path after `start(queue:)`, then with each path that differs from the
    /// last one. If several come while it is busy, it gets only the newest. A handler that is set later gets the next
    /// change.
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { follower.handler }
        set { follower.handler = newValue }
    }

    /// Starts the monitor, which now lives until ``cancel()``. It can be started once. Finds the path before it returns,
    /// and does not wait for a name server. It waits for the kernel's locks only if the type of a virtual interface
    /// cannot be known without.
    public func start(queue: DispatchQueue) {
        follower.start(self, on: queue)
    }

    /// Ends the monitor and its iterators for good, and releases the handler and the monitor itself. On the queue, the handler is not called
    /// after this returns. Elsewhere, a call that has begun may end later.
    public func cancel() {
        follower.cancel()
    }

    /// That of `start(queue:)`, also after `cancel()`.
    public var queue: DispatchQueue? { follower.queue }
}

extension NWPathMonitor: CustomDebugStringConvertible {
    /// The current path as text.
    public var debugDescription: String { "NWPathMonitor(\(currentPath.debugDescription))" }
}
#endif
