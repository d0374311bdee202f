// SPDX-License-Identifier: MIT

#if os(Linux)
public import Dispatch
import Synchronization

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
        follower = PathFollower(KernelNetworkSource.shared(NetworkNamespace()), requirement)
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

extension NWPathMonitor: AsyncSequence {
    /// A path.
    public typealias Element = NWPath
    /// An iteration does not fail.
    public typealias Failure = Never
    /// What `makeAsyncIterator()` returns.
    public typealias AsyncIterator = Iterator

    /// Keeps its monitor. Needs no `start(queue:)`: while the iterator exists, the kernel is watched. Ends when its task
    /// is cancelled, and at ``NWPathMonitor/cancel()``.
    public struct Iterator: AsyncIteratorProtocol {
        private let registration: IteratorRegistration

        fileprivate init(_ monitor: NWPathMonitor) {
            registration = IteratorRegistration(monitor)
        }

        /// Returns the current path first, then each path that differs from the last one, and nil at the end. Stays on the
        /// calling actor.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> NWPath? {
            await withTaskCancellationHandler {
                await registration.buffer.next(isolation: actor)
            } onCancel: { [registration] in
                registration.end()
            }
        }

        /// What the protocol needs for callers without an actor. A call of `next()` takes the other function.
        @_disfavoredOverload
        public mutating func next() async -> NWPath? {
            await next(isolation: nil)
        }
    }

    /// Makes an iterator. The kernel is watched from this call on.
    public __consuming func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}

/// The end of an iterator ends its buffer.
private final class IteratorRegistration: Sendable {
    private let monitor: NWPathMonitor
    let buffer: PathBuffer

    init(_ monitor: NWPathMonitor) {
        self.monitor = monitor
        buffer = monitor.follower.addBuffer()
    }

    deinit {
        end()
    }

    func end() {
        monitor.follower.remove(buffer)
    }
}

/// The buffer of one iterator: the newest path that `next()` has not returned, or the task that waits in `next()`.
// NetworkReachability's IteratorBuffer is much the same. One generic class in a shared module, even an inlinable one,
// makes the hop from a callback to the element an eighth slower.
final class PathBuffer: Sendable {
    private typealias Waiter = UnsafeContinuation<NWPath?, Never>

    private struct State {
        var newest: NWPath?
        var taken: NWPath?
        var number: UInt64 = 0
        var waiter: Waiter?
        var isClosed = false

        mutating func take() -> NWPath? {
            guard let path = newest else { return nil }
            (newest, taken) = (nil, path)
            return path
        }
    }

    private let state = Mutex(State())

    /// Updates may arrive out of order, as the threads that bring them hold no lock.
    func put(_ path: NWPath, number: UInt64) {
        let (waiter, path) = state.withLock { state -> (Waiter?, NWPath?) in
            guard number > state.number else { return (nil, nil) }
            state.number = number
            state.newest = path == state.taken ? nil : path
            guard let waiter = state.waiter, let path = state.take() else { return (nil, nil) }
            state.waiter = nil
            return (waiter, path)
        }
        waiter?.resume(returning: path)
    }

    func close() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            state.isClosed = true
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }

    /// Returns the next path, and waits if there is none. Returns nil once the buffer is closed.
    func next(isolation: isolated (any Actor)?) async -> NWPath? {
        await withUnsafeContinuation(isolation: isolation) { waiter in
            let (resumed, path) = state.withLock { state -> (Waiter?, NWPath?) in
                if state.isClosed { return (waiter, nil) }
                if let path = state.take() { return (waiter, path) }
                // An iterator is for one task. If two tasks use it, the first one gets nil.
                defer { state.waiter = waiter }
                return (state.waiter, nil)
            }
            resumed?.resume(returning: path)
        }
    }
}
#endif
