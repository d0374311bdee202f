// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import NetworkReachability
import TestSupport
import Testing

extension AsyncSequence where Element == ReachabilityPath, Failure == Never {
    /// Returns the first path that meets a condition.
    func first(_ isWanted: (ReachabilityPath) -> Bool) async throws -> ReachabilityPath {
        for await path in self where isWanted(path) { return path }
        return try #require(nil, "the sequence ended")
    }
}

@Suite("A monitor of the kernel", .namespaceInside, .limited)
struct KernelTests {
    @Test("A monitor reports flags, interface, gateway, source and destination, and every change of them")
    func changes() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { try ReachabilityMonitor(address: "192.0.2.1") }
        var path = try await monitor.first(\.isReachable)
        #expect(path.flags == .reachable && path.reason == nil)
        #expect(path.interface?.name == "e0" && path.interface?.type == .virtual)
        #expect(path.gateway == IPAddress("10.0.0.1"))
        #expect(path.source?.description == "10.0.0.2" && path.destination?.description == "192.0.2.1")
        #expect(path.mtu == 1500 && path.table == 254 && path.evidence == .kernel)
        #expect(path.description == "reachable dev e0 via 10.0.0.1 src 10.0.0.2")

        // Paths with equal flags and different gateways differ.
        let before = path
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next() == before)
        try await namespace.ip("route replace default via 10.0.0.3")
        path = try #require(await iterator.next())
        #expect(path.flags == before.flags && path.gateway?.description == "10.0.0.3")
        #expect(monitor.path == path)
        try await namespace.ip("route delete default")
        path = try #require(await iterator.next())
        #expect(path == ReachabilityPath(flags: [], reason: .noRoute, destination: before.destination))
        try await namespace.ip("route add prohibit 192.0.2.0/24")
        path = try #require(await iterator.next())
        #expect(path.reason == .routeProhibited)
    }

    @Test(
        "The type of an interface follows from the device, not from its name",
        arguments: [("127.0.0.1", .loopback), ("10.0.0.9", .virtual), ("10.9.0.9", .tunnel)]
            as [(String, ReachabilityPath.Interface.InterfaceType)])
    func type(address: String, type: ReachabilityPath.Interface.InterfaceType) async throws {
        let namespace = try await Namespace(
            .subnet + "\ntuntap add name wlan0 mode tun\naddress add 10.9.0.1/24 dev wlan0\nlink set wlan0 up")
        let monitor = try namespace.inside { try ReachabilityMonitor(address: address) }
        #expect(monitor.path.interface?.type == type)
        #expect(try await monitor.first { _ in true }.interface?.type == type)
    }

    @Test("A monitor that reports the next hop reports that it fails and that it responds again")
    func nextHop() async throws {
        let namespace = try await Namespace(.gateway)
        let options = ReachabilityOptions(reportsNextHop: true)
        let (monitor, silent) = try namespace.inside {
            (
                try ReachabilityMonitor(address: "192.0.2.1", options: options),
                try ReachabilityMonitor(address: "192.0.2.1")
            )
        }
        var iterator = monitor.makeAsyncIterator(), silentIterator = silent.makeAsyncIterator()
        #expect(await iterator.next()?.nextHop == .unknown)
        _ = await silentIterator.next()
        try await namespace.ip("neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev e0 nud permanent")
        let unwatched = try namespace.inside { try ReachabilityMonitor(address: "192.0.2.1") }
        #expect(unwatched.path.nextHop == .confirmed)
        try await namespace.ip("neigh change 10.0.0.1 dev e0 nud failed")
        let failed = try #require(await iterator.next())
        #expect(failed.nextHop == .failed && failed.isReachable)
        #expect(failed.description == "reachable dev e0 via 10.0.0.1 src 10.0.0.2, next hop failed")
        try await namespace.ip("neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev e0 nud stale")
        #expect(await iterator.next()?.nextHop == .unconfirmed)
        try await namespace.ip("route delete default")
        #expect(await silentIterator.next()?.isReachable == false)
    }

    @Test("With a family, only its addresses and its default path count")
    func family() async throws {
        let namespace = try await Namespace(.gateway)
        let ipv4 = ReachabilityOptions(addressFamily: .ipv4), ipv6 = ReachabilityOptions(addressFamily: .ipv6)
        let (first, second, third) = try namespace.inside {
            (
                try ReachabilityMonitor(options: ipv4), try ReachabilityMonitor(options: ipv6),
                try ReachabilityMonitor(address: "192.0.2.1", options: ipv4)
            )
        }
        #expect(first.path.isReachable && third.path.isReachable && second.path.reason == .noRoute)
        #expect(throws: ReachabilityError.self) { try ReachabilityMonitor(address: "192.0.2.1", options: ipv6) }
    }

    @Test("A monitor of a port follows the rules for that port")
    func port() async throws {
        let namespace = try await Namespace(.gateway)
        let (https, http, plain) = try namespace.inside {
            (
                try ReachabilityMonitor(host: "192.0.2.1", port: 443, transport: .tcp),
                try ReachabilityMonitor(host: "192.0.2.1", port: 443, transport: .udp),
                try ReachabilityMonitor(host: "192.0.2.1")
            )
        }
        var iterator = https.makeAsyncIterator()
        #expect(await iterator.next()?.isReachable == true)
        try await namespace.ip("rule add ipproto tcp dport 443 prohibit")
        let path = try #require(await iterator.next())
        #expect(path.reason == .routeProhibited && path.flow == [] && path.nextHop == .unknown)
        #expect(http.path.isReachable && http.path.flow == [])
        #expect(plain.path.isReachable && plain.path.flow == .incomplete && plain.path.flow.description == "incomplete")
        try await namespace.ip("rule delete ipproto tcp dport 443 prohibit")
        #expect(await iterator.next()?.isReachable == true)
        #expect(plain.path.flow == [])
    }

    @Test("A monitor of a socket reports a better path, and outlives the descriptor")
    func socket() async throws {
        let namespace = try await Namespace(
            .gateway + """

                link add e2 type veth peer name e3
                address add 10.2.0.2/24 dev e2
                link set e2 up
                link set e3 up
                """)
        let monitor = try namespace.inside {
            let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(53).bigEndian
            inet_pton(AF_INET, "192.0.2.1", &address.sin_addr)
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(status == 0)
            return try ReachabilityMonitor(socket: descriptor)
        }
        var iterator = monitor.makeAsyncIterator()
        var path = try #require(await iterator.next())
        #expect(path.isViable && path.flow == [] && path.source?.description == "10.0.0.2")
        try await namespace.ip("route replace default via 10.2.0.1")
        path = try #require(await iterator.next())
        #expect(path.isReachable && !path.isViable)
        #expect(path.flow == [.betterPath, .sourceForeign] && path.interface?.name == "e2")
        try await namespace.ip("route replace default via 10.0.0.1")
        #expect(await iterator.next()?.isViable == true)
    }

    @Test("A descriptor that is no connected socket is refused")
    func badSocket() {
        #expect(throws: ReachabilityError(.system, errno: EBADF)) { try ReachabilityMonitor(socket: -1) }
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(throws: ReachabilityError(.system, errno: ENOTCONN)) { try ReachabilityMonitor(socket: descriptor) }
    }

    @Test("The network has its uplinks, default paths and name servers, and each change of them is reported")
    func network() async throws {
        let namespace = try await Namespace(.gateway)
        let (network, updates) = try namespace.inside {
            (try ReachabilityNetwork.current(), try ReachabilityNetwork.updates())
        }
        #expect(network.uplinks.map(\.interface.name) == ["e0"] && network.uplinks[0].leadsOut)
        #expect(network.ipv4.isReachable && network.ipv4.reason == nil && network.ipv4 == network.uplinks[0].ipv4)
        #expect(network.ipv4.gateway == IPAddress("10.0.0.1") && network.ipv4.source == IPAddress("10.0.0.2"))
        #expect(network.ipv4.interfaceIndex == network.uplinks[0].interface.index)
        #expect(network.ipv6 == ReachabilityNetwork.DefaultPath() && network.ipv4LoopbackFlags.contains(.reachable))
        #expect(network.uplinksAreComplete && network.evidence == .kernel)
        var iterator = updates.makeAsyncIterator()
        var update = await iterator.next(isolation: #isolation)
        while update?.uplinksAreComplete == false { update = await iterator.next(isolation: #isolation) }
        #expect(update == network)
        try await namespace.until(isWatched: true)
        try await namespace.ip("route delete default")
        update = await iterator.next(isolation: #isolation)
        #expect(update?.uplinks == [] && update?.ipv4.reason == .noRoute)
    }

    @Test("An iteration over the network's changes ends with its task, and the kernel is not watched after it")
    func networkLifetime() async throws {
        let namespace = try await Namespace(.gateway)
        let received = Recorder<Void>()
        let updates = try namespace.inside { try ReachabilityNetwork.updates() }
        let task = Task { for await _ in updates { received.record(()) } }
        _ = await received.next()
        task.cancel()
        await task.value
        try await namespace.until(isWatched: false)
        do { _ = try namespace.inside { try ReachabilityNetwork.updates() } }
        try await namespace.until(isWatched: false)
    }

    @Test("The loss of the carrier is reported")
    func carrier() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { ReachabilityMonitor() }
        #expect(try await monitor.first(\.isReachable).destination == nil)
        try await namespace.ip("link set e1 down")
        #expect(try await monitor.first { !$0.isReachable }.reason == .noCarrier)
    }

    @Test("The kernel is watched only while an iterator or an observer exists")
    func watching() async throws {
        let namespace = try await Namespace(.loopback)
        let monitor = try namespace.inside { try ReachabilityMonitor(address: "198.51.100.1") }
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
        // The path is queried when it is read.
        #expect(try namespace.inside { RejectedRoute.add() })
        #expect(monitor.path.reason == .routeUnreachable)
    }

    @Test("An iterator keeps its monitor, and the kernel is not watched after its end")
    func lifetime() async throws {
        let namespace = try await Namespace(.loopback)
        func makeMonitor() throws -> ReachabilityMonitor {
            try namespace.inside { try ReachabilityMonitor(address: "198.51.100.1") }
        }
        for await path in try makeMonitor() {
            guard path.isReachable else { break }
            #expect(try namespace.inside { RejectedRoute.add() })
        }
        try await namespace.until(isWatched: false)
    }

    @Test("With an interface in the options, only routes over it count, and it need not exist yet")
    func interface() async throws {
        let namespace = try await Namespace("link set lo up")
        let options = ReachabilityOptions(interface: "e0")
        let (bound, path) = try namespace.inside {
            (
                try ReachabilityMonitor(address: "10.0.0.9", options: options),
                try ReachabilityMonitor(options: options)
            )
        }
        #expect(bound.path.reason == .interfaceMissing && path.path.reason == .interfaceMissing)
        let other = try namespace.inside {
            try ReachabilityMonitor(address: "127.0.0.1", options: ReachabilityOptions(interface: "e0"))
        }
        #expect(!other.path.isReachable)
        async let found = bound.first(\.isReachable)
        async let defaultPath = path.first(\.isReachable)
        try await namespace.ip(.gateway)
        #expect(try await found.flags == [.reachable, .isDirect])
        #expect(try await defaultPath.interface?.name == "e0")
    }

    @Test("A monitor with a traffic class has the path of a socket with that class")
    func trafficClass() async throws {
        let namespace = try await Namespace(
            .loopback + "\nrule add tos 0x10 lookup 100\nroute add unreachable default table 100")
        let monitor = try namespace.inside {
            try ReachabilityMonitor(address: "198.51.100.1", options: ReachabilityOptions(trafficClass: 0x10))
        }
        #expect(monitor.path.reason == .routeUnreachable)
    }

    @Test("A monitor with a routing mark has the path of a socket with that mark")
    func mark() async throws {
        let namespace = try await Namespace(
            .loopback + "\nrule add fwmark 7 lookup 100\nroute add unreachable default table 100")
        let (plain, marked) = try namespace.inside {
            (
                try ReachabilityMonitor(address: "198.51.100.1"),
                try ReachabilityMonitor(address: "198.51.100.1", options: ReachabilityOptions(routingMark: 7))
            )
        }
        #expect(plain.path.isReachable)
        #expect(marked.path.reason == .routeUnreachable)
        async let changed = marked.first(\.isReachable)
        try await namespace.ip("rule delete fwmark 7 lookup 100")
        #expect(try await changed.isReachable)
    }

    @Test("The path of a pair of addresses depends on its local address")
    func pair() async throws {
        let namespace = try await Namespace(.loopback)
        let near = IPAddress("127.0.0.9"), remote = IPAddress("127.0.0.1"), other = IPAddress("203.0.113.1")
        let monitor = try namespace.inside {
            try ReachabilityMonitor(localAddress: near, remoteAddress: remote)
        }
        #expect(monitor.path.isReachable)
        let absent = try namespace.inside { try ReachabilityMonitor(localAddress: other, remoteAddress: remote) }
        #expect(absent.path.reason == .localAddressNotAssigned)
        async let found = absent.first(\.isReachable)
        try await namespace.ip("address add 203.0.113.1/32 dev lo")
        _ = try await found
        let local = try namespace.inside { try ReachabilityMonitor(localAddress: other, remoteAddress: nil) }
        #expect(local.path.flags == [.reachable, .isLocalAddress, .isDirect])
    }

    @Test("The zone of an IPv6 address is followed by its name")
    func zone() async throws {
        let namespace = try await Namespace("link set lo up")
        let monitor = try namespace.inside { try ReachabilityMonitor(address: "fe80::99%e0") }
        #expect(monitor.path.reason == .interfaceMissing)
        async let found = monitor.first(\.isReachable)
        try await namespace.ip(.subnet)
        #expect(try await found.interface?.name == "e0")
    }

    @Test("localhost and address literals are hosts", arguments: ["localhost", "127.0.0.1", "::1"])
    func literals(host: String) async throws {
        let namespace = try await Namespace("link set lo up")
        let monitor = try namespace.inside { try ReachabilityMonitor(host: host) }
        #expect(try await monitor.first { _ in true }.flags == [.reachable, .isLocalAddress, .isDirect])
        async let down = monitor.first { !$0.isReachable }
        try await namespace.ip("link set lo down")
        _ = try await down
    }

    @Test("A name is pending until its name server replies, and is not reachable if it does not exist", .nameServer)
    func names() async throws {
        let namespace = try await Namespace(.loopback)
        let server = try NameServer(in: namespace)
        let monitor = try namespace.inside { try ReachabilityMonitor(host: "host.invalid") }
        #expect(monitor.path.reason == .namePending && !monitor.path.isReachable)
        #expect("\(monitor.path)" == "pending" && monitor.path.flags.contains(.reachable))
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next()?.reason == .namePending)
        await server.waitForRequest()
        #expect(monitor.path.reason == .namePending)
        server.sendReplies()
        #expect(await iterator.next()?.reason == .nameNotFound)
        #expect(!monitor.path.isReachable)
    }

    @Test("A change that races with the first query is not lost")
    func race() async throws {
        let namespace = try await Namespace(.loopback)
        let monitor = try namespace.inside { try ReachabilityMonitor(address: "198.51.100.1") }
        for round in 1...Repetitions.tries {
            let isRejected = round % 2 == 1
            async let change = namespace.inside { isRejected ? RejectedRoute.add() : RejectedRoute.delete() }
            for await path in monitor where path.isReachable != isRejected { break }
            #expect(try await change)
        }
    }

    @Test("A watched path is current after a burst of changes")
    func bursts() async throws {
        let namespace = try await Namespace(.loopback)
        let monitor = try namespace.inside { try ReachabilityMonitor(address: "198.51.100.1") }
        let observation = monitor.observe { _ in }
        for length in 1...Repetitions.tries {
            // Some bursts end with the last reported path, while the monitor has read another one after that report. No
            // further callback comes then. This is one of several thousand bursts.
            let isDone = try namespace.inside {
                for _ in 0...length % 7 where !(RejectedRoute.add() && RejectedRoute.delete()) { return false }
                return length % 2 == 0 || RejectedRoute.add()
            }
            #expect(isDone)
            try await waitUntil { monitor.path.isReachable == (length % 2 == 0) }
            if length % 2 != 0 { #expect(try namespace.inside { RejectedRoute.delete() }) }
        }
        observation.cancel()
    }

    @Test("An iterator gets the current path after others were made and released while routes flapped")
    func storm() async throws {
        let namespace = try await Namespace(.loopback)
        let monitor = try namespace.inside { try ReachabilityMonitor(address: "198.51.100.1") }
        let rounds = Repetitions.tries / 2
        let hasEnded = Task.detached {
            try namespace.inside {
                for _ in 0..<rounds where !(RejectedRoute.add() && RejectedRoute.delete()) { return false }
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

@Suite("A monitor in a process without free descriptors", .limited)
struct ExhaustionTests {
    @Test("The path is undetermined until descriptors are free again")
    func recovery() async {
        await #expect(processExitsWith: .success) {
            // libdispatch needs a descriptor for timers, and loses a timer if there is none. This long timer and the
            // wait for a short one make sure that it has the descriptor.
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
