// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability
import Dispatch
internal import ReachabilityInternals
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The network of one namespace, as the kernel has it. All monitors of a namespace share it.
final class KernelNetworkSource: NetworkSource {
    private enum Watch {
        case stopped
        case started(KernelNetwork)
        /// The target could not be made or scheduled. It is tried again in a second.
        case failed
    }

    private let namespace: NetworkNamespace
    // The locks, in the order in which a thread takes them. No user's code runs while one is held.

    /// Held while the target is made, scheduled or unscheduled, and from reading its state to storing it: an older state
    /// cannot replace a newer one.
    private let watch = Mutex(Watch.stopped)
    private let list = Mutex(ReceiverList())
    private let isRetrySet = Atomic(false)

    private init(_ namespace: NetworkNamespace) {
        self.namespace = namespace
    }

    func add(_ receiver: any NetworkReceiver) -> NetworkUpdate {
        list.withLock { $0.add(receiver) }
        startOrStop()
        return list.withLock(\.latest)
    }

    func remove(_ receiver: any NetworkReceiver) {
        let removed = list.withLock { $0.remove(receiver) }
        startOrStop()
        withExtendedLifetime(removed) {}
    }

    /// Starts if there are receivers, stops if there are none. If several threads call this, the last one to take the lock
    /// sees all receivers.
    private func startOrStop() {
        watch.withLock { watch in
            let isNeeded = list.withLock { !$0.isEmpty }
            switch (isNeeded, watch) {
            case (true, .stopped): watch = start()
            case (false, .started(let network)):
                network.unschedule()
                watch = .stopped
            case (false, .failed): watch = .stopped
            default: break
            }
        }
    }

    private func start() -> Watch {
        // Weak: the target keeps this closure.
        guard let network = namespace.makeNetwork(),
            network.schedule({ [weak self] in self?.changed() })
        else {
            // What cannot be known is not satisfied.
            store(KernelNetwork.Reading(isWhole: true))
            setRetry()
            return .failed
        }
        // The first callback may be under way: it waits for `watch` and then reads again.
        store(firstReading(network))
        return .started(network)
    }

    /// The first evaluation does not wait for the kernel's locks, so it does not know the kind of every virtual interface.
    /// A guess could make a monitor with a required type satisfied for a moment. So the kernel is queried, which waits.
    private func firstReading(_ network: KernelNetwork) -> KernelNetwork.Reading {
        var first = network.read() ?? KernelNetwork.Reading()
        guard first.lacksType, let queried = namespace.makeQuery()?.read() else { return first }
        first.state = queried.state
        return first
    }

    private func setRetry() {
        guard !isRetrySet.exchange(true, ordering: .relaxed) else { return }
        timerQueue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.retry() }
    }

    private func retry() {
        isRetrySet.store(false, ordering: .relaxed)
        let sending = watch.withLock { watch -> ReceiverList.Sending? in
            guard case .failed = watch else { return nil }
            watch = start()
            guard case .started(let network) = watch, let reading = network.read() else { return nil }
            return list.withLock { $0.set(reading.state, isWhole: reading.isWhole, isNew: true) }
        }
        sending?.send()
    }

    /// On the library's thread. The library calls it only for changes.
    private func changed() {
        let sending = watch.withLock { watch -> ReceiverList.Sending? in
            guard case .started(let network) = watch, let reading = network.read() else { return nil }
            return list.withLock { $0.set(reading.state, isWhole: reading.isWhole, isNew: true) }
        }
        sending?.send()
    }

    private func store(_ reading: KernelNetwork.Reading) {
        _ = list.withLock { $0.set(reading.state, isWhole: reading.isWhole) }
    }
}

extension KernelNetworkSource {
    /// A fork's child has sources of its own.
    private struct Key: Hashable {
        let process: pid_t
        let namespace: NetworkNamespace.Identity?
    }

    private struct Entry {
        weak var source: KernelNetworkSource?
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// The source of a namespace. Its monitors keep it.
    static func shared(_ namespace: NetworkNamespace) -> KernelNetworkSource {
        entries.withLock { entries in
            let key = Key(process: getpid(), namespace: namespace.identity)
            if let source = entries[key]?.source { return source }
            entries = entries.filter { $0.value.source != nil }
            let source = KernelNetworkSource(namespace)
            entries[key] = Entry(source: source)
            return source
        }
    }
}

private let timerQueue = DispatchQueue(label: "reachability.network")

/// The C library's target for the network of one namespace.
// Unchecked Sendable: the only property is a constant. The C library's own locks guard the target.
package final class KernelNetwork: @unchecked Sendable {
    private let target: SCNetworkReachability

    /// In the network namespace of the calling thread. nil: out of memory or descriptors, or no name servers could be
    /// read.
    package init?() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var options = SCNetworkReachabilityOptions()
        options.size = MemoryLayout<SCNetworkReachabilityOptions>.size
        options.options = SCNetworkReachabilityOption.notifyNetwork.rawValue
        let target = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                options.remoteAddress = address
                return SCNetworkReachabilityCreateWithOptions(nil, &options)
            }
        }
        guard let target else { return nil }
        self.target = target
    }

    /// The interface with this index, if it has a default route.
    package static func uplink(ofInterface index: UInt32) -> NWInterface? {
        KernelNetwork()?.read()?.state.uplinks.first { $0.interface.index == Int(index) }?.interface
    }

    /// What the C library has found out.
    package struct Reading {
        package var state = NetworkState()
        /// All interfaces are known, not only those that the kernel chooses.
        package var isWhole = false
        /// The type of an interface is not known, and the state has the usual one for its hardware.
        package var lacksType = false
    }

    /// The last evaluation of a scheduled target. If the target is not scheduled, this queries the kernel, and may wait
    /// for the kernel's locks.
    package func read() -> Reading? {
        // Most machines have one interface with a default route: then both structures are on the stack.
        var count = 1
        while true {
            let (result, needed) = withUnsafeTemporaryAllocation(
                of: SCNetworkReachabilityNetwork.self, capacity: 1
            ) { network in
                withUnsafeTemporaryAllocation(of: SCNetworkReachabilityUplink.self, capacity: count) { uplinks in
                    read(into: network.baseAddress!, uplinks)
                }
            }
            if needed <= count { return result }
            count = needed
        }
    }

    /// Also returns the number of uplinks. The state is nil if the uplinks do not fit into `uplinks`, or if the call failed.
    private func read(
        into network: UnsafeMutablePointer<SCNetworkReachabilityNetwork>,
        _ uplinks: UnsafeMutableBufferPointer<SCNetworkReachabilityUplink>
    ) -> (Reading?, needed: Int) {
        network.pointee.size = MemoryLayout<SCNetworkReachabilityNetwork>.size
        let size = MemoryLayout<SCNetworkReachabilityUplink>.stride
        guard SCNetworkReachabilityGetNetwork(target, network, uplinks.baseAddress, size, uplinks.count) else {
            return (nil, 0)
        }
        let count = Int(network.pointee.uplinkCount)
        guard count <= uplinks.count else { return (nil, count) }
        let known = UnsafeMutableBufferPointer(rebasing: uplinks[..<count])
        let reading = Reading(
            state: NetworkState(&network.pointee, known), isWhole: network.pointee.uplinksAreComplete != 0,
            lacksType: known.contains { $0.interfaceTypeIsKnown == 0 })
        return (reading, count)
    }

    /// Calls `onChange` on the library's own thread: once when all interfaces are known, then at each change. Returns
    /// false if the target cannot be scheduled.
    package func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        target.schedule(onChange)
    }

    /// A call that has begun may end after this returns.
    package func unschedule() {
        target.unschedule()
    }
}

/// The network namespace in which a monitor was made. In a process that stays in one namespace, this holds nothing open.
struct NetworkNamespace: Sendable {
    /// Names the namespace, as long as something keeps it.
    struct Identity: Hashable, Sendable {
        private let device: dev_t
        private let inode: ino_t

        /// nil: the file cannot be read, so this process has one namespace.
        fileprivate init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = status.st_dev
            inode = status.st_ino
        }

        fileprivate static var ofThread: Identity? { Identity("/proc/thread-self/ns/net") }
        fileprivate static var ofProcess: Identity? { Identity("/proc/self/ns/net") }
    }

    let identity: Identity?
    /// Keeps a namespace that is not the process's.
    private let kept: KernelNetwork?
    private let keptForQueries: KernelNetwork?

    /// That of the calling thread.
    init() {
        identity = Identity.ofThread
        let isOfProcess = identity == Identity.ofProcess
        kept = isOfProcess ? nil : KernelNetwork()
        keptForQueries = isOfProcess ? nil : KernelNetwork()
    }

    /// Makes a target in the namespace, from any thread.
    func makeNetwork() -> KernelNetwork? {
        if let kept { return kept }
        return makeNetworkHere() ?? makeNetworkOnWorker()
    }

    /// The same, for a target that is never scheduled.
    func makeQuery() -> KernelNetwork? {
        if kept != nil { return keptForQueries }
        return makeNetworkHere() ?? makeNetworkOnWorker()
    }

    private func makeNetworkHere() -> KernelNetwork? {
        Identity.ofThread == identity ? KernelNetwork() : nil
    }

    /// The calling thread has moved to another namespace. Dispatch's threads are in the process's.
    private func makeNetworkOnWorker() -> KernelNetwork? {
        guard Identity.ofThread != identity else { return nil }
        let result = WorkerResult()
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            result.network = makeNetworkHere()
            done.signal()
        }
        done.wait()
        return result.network
    }
}

// Unchecked Sendable: the semaphore orders the two threads.
private final class WorkerResult: @unchecked Sendable {
    var network: KernelNetwork?
}
#endif
