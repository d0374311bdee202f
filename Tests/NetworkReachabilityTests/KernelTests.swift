// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import NetworkReachability
import Testing

extension AsyncSequence where Element == ReachabilityPath, Failure == Never {
    /// The first path that is as wanted.
    func first(_ isWanted: (ReachabilityPath) -> Bool) async throws -> ReachabilityPath {
        for await path in self where isWanted(path) { return path }
        return try #require(nil, "the sequence ended")
    }
}

@Suite("A monitor and the kernel", .namespace, .timeLimit(.minutes(1)))
struct KernelTests {
    @Test("Tells flags, interface, gateway, source and destination, and every change of them")
    func changes() async throws {
        let namespace = try Namespace(.gateway)
        let monitor = try namespace.run { try ReachabilityMonitor(address: "192.0.2.1") }
        var path = try await monitor.first(\.isReachable)
        #expect(path.flags == .reachable && path.reason == .none)
        #expect(path.interface?.name == "e0" && path.interface?.type == .virtual)
        #expect(path.gateway == ReachabilityPath.Address("10.0.0.1"))
        #expect(path.source?.description == "10.0.0.2" && path.destination?.description == "192.0.2.1")
        #expect(path.description == "Reachable dev e0 via 10.0.0.1 src 10.0.0.2")

        // Equal flags over another gateway are another path.
        let before = path
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == before)
        try namespace.ip("route replace default via 10.0.0.3")
        path = try #require(await iterator.next())
        #expect(path.flags == before.flags && path.gateway?.description == "10.0.0.3")
        #expect(monitor.path == path)
        try namespace.ip("route delete default")
        path = try #require(await iterator.next())
        #expect(path == ReachabilityPath(flags: [], reason: .noRoute, destination: before.destination))
        try namespace.ip("route add prohibit 192.0.2.0/24")
        path = try #require(await iterator.next())
        #expect(path.reason == .routeProhibited)
    }

    @Test("A lost carrier is told")
    func carrier() async throws {
        let namespace = try Namespace(.gateway)
        let monitor = try namespace.run { ReachabilityMonitor() }
        #expect(try await monitor.first(\.isReachable).destination == nil)
        try namespace.ip("link set e1 down")
        #expect(try await monitor.first { !$0.isReachable }.reason == .noCarrier)
    }

    @Test("The kernel is watched only while an iterator or an observer exists")
    func watching() async throws {
        let namespace = try Namespace(.loopback)
        let monitor = try namespace.run { try ReachabilityMonitor(address: "198.51.100.1") }
        #expect(monitor.path.isReachable)
        try await namespace.until(isWatched: false)
        do {
            let iterator = monitor.makeAsyncIterator()
            try await namespace.until(isWatched: true)
            let observation = monitor.observe { _ in }
            _ = consume iterator
            try await namespace.until(isWatched: true)
            observation.cancel()
        }
        try await namespace.until(isWatched: false)
        for await path in monitor {
            #expect(path.isReachable)
            try await namespace.until(isWatched: true)
            break
        }
        try await namespace.until(isWatched: false)
        // What is read is what holds now.
        #expect(try namespace.run { Namespace.reject(true) })
        #expect(monitor.path.reason == .routeUnreachable)
    }

    @Test("A monitor that is dropped while it is iterated lives on, and then lets go of everything")
    func lifetime() async throws {
        let namespace = try Namespace(.loopback)
        for await path in try namespace.run({ try ReachabilityMonitor(address: "198.51.100.1") }) {
            guard path.isReachable else { break }
            #expect(try namespace.run { Namespace.reject(true) })
        }
        try await namespace.until(isWatched: false)
    }

    @Test("Counts only routes out of the interface that is asked for, which need not exist yet")
    func interface() async throws {
        let namespace = try Namespace("link set lo up")
        let options = ReachabilityOptions(interface: "e0")
        let (bound, path) = try namespace.run {
            (
                try ReachabilityMonitor(address: "10.0.0.9", options: options),
                try ReachabilityMonitor(options: options)
            )
        }
        #expect(bound.path.reason == .interfaceMissing && path.path.reason == .interfaceMissing)
        let other = try namespace.run {
            try ReachabilityMonitor(address: "127.0.0.1", options: ReachabilityOptions(interface: "e0"))
        }
        #expect(!other.path.isReachable)
        async let found = bound.first(\.isReachable)
        async let defaultPath = path.first(\.isReachable)
        try namespace.ip(.gateway)
        #expect(try await found.flags == [.reachable, .isDirect])
        #expect(try await defaultPath.interface?.name == "e0")
    }

    @Test("Asks as a socket with the routing mark would")
    func mark() async throws {
        let namespace = try Namespace(
            .loopback + "\nrule add fwmark 7 lookup 100\nroute add unreachable default table 100")
        let (plain, marked) = try namespace.run {
            (
                try ReachabilityMonitor(address: "198.51.100.1"),
                try ReachabilityMonitor(address: "198.51.100.1", options: ReachabilityOptions(routingMark: 7))
            )
        }
        #expect(plain.path.isReachable)
        #expect(marked.path.reason == .routeUnreachable)
        async let changed = marked.first(\.isReachable)
        try namespace.ip("rule delete fwmark 7 lookup 100")
        #expect(try await changed.isReachable)
    }

    @Test("A pair of addresses follows its local address")
    func pair() async throws {
        let namespace = try Namespace(.loopback)
        let monitor = try namespace.run {
            try ReachabilityMonitor(localAddress: "127.0.0.9", remoteAddress: "127.0.0.1")
        }
        #expect(monitor.path.isReachable)
        let absent = try namespace.run {
            try ReachabilityMonitor(localAddress: "203.0.113.1", remoteAddress: "127.0.0.1")
        }
        #expect(absent.path.reason == .localAddressNotAssigned)
        async let found = absent.first(\.isReachable)
        try namespace.ip("address add 203.0.113.1/32 dev lo")
        _ = try await found
        let local = try namespace.run { try ReachabilityMonitor(localAddress: "203.0.113.1", remoteAddress: nil) }
        #expect(local.path.flags == [.reachable, .isLocalAddress, .isDirect])
    }

    @Test("IPv6 zones are followed by name")
    func zone() async throws {
        let namespace = try Namespace("link set lo up")
        let monitor = try namespace.run { try ReachabilityMonitor(address: "fe80::99%e0") }
        #expect(monitor.path.reason == .interfaceMissing)
        async let found = monitor.first(\.isReachable)
        try namespace.ip(.subnet)
        #expect(try await found.interface?.name == "e0")
    }

    @Test("localhost and literals are hosts too", arguments: ["localhost", "127.0.0.1", "::1", "127.1"])
    func literals(host: String) async throws {
        let namespace = try Namespace("link set lo up")
        let monitor = try namespace.run { try ReachabilityMonitor(host: host) }
        #expect(try await monitor.first { _ in true }.flags == [.reachable, .isLocalAddress, .isDirect])
        async let down = monitor.first { !$0.isReachable }
        try namespace.ip("link set lo down")
        _ = try await down
    }

    @Test("A host that is not resolved is not reachable, and nothing waits for its server")
    func pending() throws {
        let monitor = try Namespace(.loopback).run { try ReachabilityMonitor(host: "host.invalid") }
        #expect(!monitor.path.isReachable)
        _ = monitor.makeAsyncIterator()
    }

    @Test("A change that races the first query is never missed")
    func race() async throws {
        let namespace = try Namespace(.loopback)
        let monitor = try namespace.run { try ReachabilityMonitor(address: "198.51.100.1") }
        for round in 1...(isInstrumented ? 500 : 10_000) {
            let isRejected = round % 2 == 1
            async let change = namespace.run { Namespace.reject(isRejected) }
            for await path in monitor where path.isReachable != isRejected { break }
            #expect(try await change)
        }
    }

    @Test("A watched path is right in the end, however fast the changes came")
    func bursts() async throws {
        let namespace = try Namespace(.loopback)
        let monitor = try namespace.run { try ReachabilityMonitor(address: "198.51.100.1") }
        let observation = monitor.observe { _ in }
        for length in 1...(isInstrumented ? 200 : 10_000) {
            // A burst that ends with what the library told last, but not with what was seen when it did: no further
            // callback comes. Some thousand bursts have one of these.
            let isDone = try namespace.run {
                for _ in 0...length % 7 where !(Namespace.reject(true) && Namespace.reject(false)) { return false }
                return length % 2 == 0 || Namespace.reject(true)
            }
            #expect(isDone)
            while monitor.path.isReachable != (length % 2 == 0) {
                try Task.checkCancellation()
                await Task.yield()
            }
            if length % 2 != 0 { #expect(try namespace.run { Namespace.reject(false) }) }
        }
        observation.cancel()
    }

    @Test("Iterators come and go while routes flap: the last one sees how it ended")
    func storm() async throws {
        let namespace = try Namespace(.loopback)
        let monitor = try namespace.run { try ReachabilityMonitor(address: "198.51.100.1") }
        let rounds = isInstrumented ? 500 : 5000
        let hasEnded = Task.detached {
            try namespace.run {
                for round in 0..<rounds * 2 where !Namespace.reject(round % 2 == 0) { return false }
                return true
            }
        }
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<rounds {
                        var iterator = monitor.makeAsyncIterator()
                        _ = await iterator.next()
                        let observation = monitor.observe { _ in }
                        observation.cancel()
                    }
                }
            }
        }
        #expect(try await hasEnded.value)
        #expect(monitor.path.isReachable)
        #expect(try await monitor.first(\.isReachable).isReachable)
        try await namespace.until(isWatched: false)
    }
}

@Suite("A monitor without descriptors", .timeLimit(.minutes(1)))
struct ExhaustionTests {
    @Test("The path is undetermined, and found out as soon as it can be")
    func recovery() async {
        await #expect(processExitsWith: .success) {
            // libdispatch has a descriptor while a timer is set, and loses one that is set when it can have none: what
            // is tested is what happens to ours.
            DispatchQueue.global().asyncAfter(deadline: .now() + 1000) {}
            await withCheckedContinuation { isReady in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isReady.resume() }
            }
            var few = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
            let enough = few
            few.rlim_cur = 0
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few) == 0)
            #expect(throws: ReachabilityError(.system, errno: EMFILE)) { try ReachabilityMonitor(address: "127.0.0.1") }
            let monitor = ReachabilityMonitor()
            #expect(monitor.path == .unreachable(.undetermined))
            var iterator = monitor.makeAsyncIterator()
            #expect(await iterator.next()?.reason == .undetermined)
            var limit = enough
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let path = try #require(await iterator.next())
            #expect(path.reason != .undetermined)
        }
    }
}
