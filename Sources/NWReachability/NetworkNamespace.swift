// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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
