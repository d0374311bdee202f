// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The network of one namespace, as the kernel has it. All monitors of a namespace share it.
final class KernelSource: NetworkSource {
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

extension KernelSource {
    /// A fork's child has sources of its own.
    private struct Key: Hashable {
        let process: pid_t
        let namespace: NetworkNamespace.Identity?
    }

    private struct Entry {
        weak var source: KernelSource?
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// The source of a namespace. Its monitors keep it.
    static func shared(_ namespace: NetworkNamespace) -> KernelSource {
        entries.withLock { entries in
            let key = Key(process: getpid(), namespace: namespace.identity)
            if let source = entries[key]?.source { return source }
            entries = entries.filter { $0.value.source != nil }
            let source = KernelSource(namespace)
            entries[key] = Entry(source: source)
            return source
        }
    }
}

private let timerQueue = DispatchQueue(label: "reachability.network")
#endif
