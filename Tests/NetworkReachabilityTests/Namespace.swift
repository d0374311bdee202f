// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import Synchronization
import Testing

/// A network namespace with nothing in it but a lo that is down, and a thread that lives there. What is made by `run`
/// belongs to it; it ends with the last of that.
final class Namespace: Sendable {
    private let jobs = Jobs()

    /// Whether a thread may have one. As a user: `unshare --user --map-root-user swift test`.
    static let isAllowed: Bool = {
        let result = Mutex(false)
        startThread { result.withLock { $0 = enterNamespace() } }.wait()
        return result.withLock { $0 }
    }()

    init(_ commands: String = "") throws {
        let isMade = Mutex<Bool?>(nil)
        let start = DispatchSemaphore(value: 0)
        // Not self: the thread ends after it.
        startThread { [jobs] in
            isMade.withLock { $0 = enterNamespace() }
            start.signal()
            while let job = jobs.next() { job() }
        }
        start.wait()
        try #require(isMade.withLock { $0 } == true)
        if !commands.isEmpty { try ip(commands) }
    }

    deinit {
        jobs.add(nil)
    }

    /// Runs a closure in the namespace, and waits for it.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws -> Result {
        let result = Mutex<Swift.Result<Result, any Error>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        jobs.add {
            let value = Swift.Result { try body() }
            result.withLock { $0 = value }
            isDone.signal()
        }
        isDone.wait()
        return try #require(result.withLock { $0 }).get()
    }

    /// Runs ip(8) commands, a line each.
    func ip(_ commands: String, _ location: SourceLocation = #_sourceLocation) throws {
        let status = try run {
            guard let pipe = popen("exec ip -batch -", "we") else { return errno }
            fputs(commands + "\n", pipe)
            return pclose(pipe)
        }
        try #require(status == 0, "\(commands)", sourceLocation: location)
    }

    /// Adds or deletes a route that rejects 198.51.100.1, in a moment; to be called by `run`.
    static func reject(_ isRejected: Bool) -> Bool {
        // struct rtentry of net/route.h, which the Glibc module has not.
        var route = (
            UInt(0), sockaddr(), sockaddr(), sockaddr(), UInt16(1 | 4 | 0x200), Int16(0), UInt(0), UInt(0), Int16(0),
            UInt(0), UInt(0), UInt(0), UInt16(0)
        )
        withUnsafeMutableBytes(of: &route.1) { $0.copyBytes(from: [2, 0, 0, 0, 198, 51, 100, 1]) }
        withUnsafeMutableBytes(of: &route.3) { $0.copyBytes(from: [2, 0, 0, 0, 255, 255, 255, 255]) }
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(socket) }
        return ioctl(socket, isRejected ? 0x890B : 0x890C, &route) == 0
    }

    /// Waits until somebody in here listens to the kernel's events, or nobody does any more.
    func until(isWatched: Bool) async throws {
        while try run({ try Namespace.isWatched() }) != isWatched {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private static func isWatched() throws -> Bool {
        let file = try #require(fopen("/proc/thread-self/net/netlink", "re"))
        defer { fclose(file) }
        var text: [UInt8] = []
        while case let byte = getc(file), byte != EOF { text.append(UInt8(byte)) }
        // sk Eth Pid Groups ...; those who only ask hear of links, which is group 1, and no more.
        return String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst().contains {
            UInt64($0.split(separator: " ")[3], radix: 16).map { $0 > 1 } ?? false
        }
    }
}

/// What a namespace's thread has to do; nil is its end.
private final class Jobs: Sendable {
    private let jobs = Mutex<[(@Sendable () -> Void)?]>([])
    private let count = DispatchSemaphore(value: 0)

    func add(_ job: (@Sendable () -> Void)?) {
        jobs.withLock { $0.append(job) }
        count.signal()
    }

    func next() -> (@Sendable () -> Void)? {
        count.wait()
        return jobs.withLock { $0.removeFirst() }
    }
}

extension String {
    /// Everything is routed to lo: no carrier has to be waited for.
    static let loopback = "link set lo up\nroute add default dev lo"

    /// e0 with a carrier and a subnet, and no other route; its peer e1 is in the same namespace.
    static let subnet = """
        link set lo up
        link add e0 type veth peer name e1
        address add 10.0.0.2/24 dev e0
        link set e1 up
        link set e0 up
        """

    /// ... and a gateway.
    static let gateway = subnet + "\nroute add default via 10.0.0.1"
}

extension Trait where Self == ConditionTrait {
    static var namespace: Self {
        .enabled(if: Namespace.isAllowed, "threads may not have network namespaces here")
    }
}

/// Under a sanitizer, or valgrind, everything takes longer: fewer rounds do.
let isInstrumented = getenv("TEST_UNDER") != nil

/// Gives the calling thread a network namespace; answers whether it may have one.
private func enterNamespace() -> Bool {
    // unshare(2), which the Glibc module has not.
    typealias Unshare = @convention(c) (Int32) -> Int32
    guard let function = dlsym(nil, "unshare") else { return false }
    return unsafeBitCast(function, to: Unshare.self)(0x4000_0000) == 0
}

/// Answers what is signalled when it has ended.
@discardableResult
private func startThread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let isDone = DispatchSemaphore(value: 0)
    let box = Unmanaged.passRetained(
        Box {
            body()
            isDone.signal()
        })
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        {
            Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    precondition(error == 0)
    pthread_detach(thread)
    return isDone
}

private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
