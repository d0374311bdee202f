// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import NWReachability
import Synchronization
import TestSupport
import Testing

@Suite("A path monitor of the kernel", .namespaceInside, .limited)
struct KernelTests {
    private let queue = DispatchQueue(label: "paths")

    /// The paths of a started monitor.
    private func started(_ monitor: NWPathMonitor) -> Recorder<NWPath> {
        let paths = Recorder<NWPath>()
        monitor.pathUpdateHandler = { paths.record($0) }
        monitor.start(queue: queue)
        return paths
    }

    /// e0 as in `.gateway`, and f0.
    private static let two =
        String.gateway + """

            link add f0 type veth peer name f1
            address add 10.1.0.2/24 dev f0
            link set f1 up
            link set f0 up
            """

    @Test("A monitor reports interfaces, families and gateways, and every change of them")
    func changes() async throws {
        let namespace = try await Namespace(KernelTests.two)
        let monitor = try namespace.inside { NWPathMonitor() }
        let paths = started(monitor)
        #expect(monitor.currentPath.status == .satisfied && monitor.currentPath.supportsIPv4)
        #expect(monitor.currentPath.names == ["e0"])
        var path = try #require(await paths.next())
        #expect(path.status == .satisfied && path.names == ["e0"] && path.availableInterfaces[0].type == .wiredEthernet)
        #expect(path.supportsIPv4 && !path.supportsIPv6 && path.usesInterfaceType(.wiredEthernet) && !path.isExpensive)
        #expect(path.gatewayTexts == ["10.0.0.1:0"] && monitor.currentPath == path)

        try await namespace.ip("route add default via 10.1.0.1 metric 9")
        path = try #require(await paths.next())
        #expect(path.names == ["e0", "f0"] && path.gatewayTexts == ["10.0.0.1:0"])
        try await namespace.ip("route delete default via 10.0.0.1")
        path = try #require(await paths.next())
        #expect(path.names == ["f0"] && path.gatewayTexts == ["10.1.0.1:0"])
        try await namespace.ip("address add 2001:db8::2/64 dev f0 nodad\nroute add default via fe80::1 dev f0")
        repeat { path = try #require(await paths.next()) } while !path.supportsIPv6
        #expect(path.gatewayTexts == ["10.1.0.1:0", "fe80::1%f0.0"])
        try await namespace.ip("route delete default via fe80::1 dev f0\nroute delete default")
        repeat { path = try #require(await paths.next()) } while path.status != .unsatisfied
        #expect(path.names == [] && path.unsatisfiedReason == .notAvailable)
        monitor.cancel()
    }

    @Test("The interface of a parsed address equals the listed one")
    func parsedScope() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { NWPathMonitor() }
        let paths = started(monitor)
        let listed = try #require(await paths.next()?.availableInterfaces.first)
        let parsed = try namespace.inside {
            ["fe80::1%e0", "fe80::1%\(listed.index)", "2001:db8::1%e0"].map { IPv6Address($0)?.interface }
        }
        #expect(listed.type == .wiredEthernet && parsed.allSatisfy { $0 == listed })
        try namespace.inside { #expect(IPv4Address("10.0.0.1%e0")?.interface == listed) }
        try namespace.inside { #expect(NWEndpoint.Host("e.example%e0").interface == listed) }
        try namespace.inside { #expect(IPv6Address("::1%lo")?.interface?.type == .loopback) }
        monitor.cancel()
    }

    @Test("A new source address on the same interface is a change")
    func source() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { NWPathMonitor() }
        let paths = started(monitor)
        let before = try #require(await paths.next())
        try await namespace.ip("address add 10.0.0.9/24 dev e0\nroute replace default via 10.0.0.1 src 10.0.0.9")
        let after = try #require(await paths.next())
        #expect(after != before && after.names == before.names && after.gateways == before.gateways)
        monitor.cancel()
    }

    @Test("DNS follows lo, where the tests' name server is")
    func dns() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { NWPathMonitor() }
        let paths = started(monitor)
        #expect(await paths.next()?.supportsDNS == true)
        try await namespace.ip("link set lo down")
        #expect(await paths.next()?.supportsDNS == false)
        monitor.cancel()
    }

    @Test("Loopback is satisfied while lo is up")
    func loopback() async throws {
        let namespace = try await Namespace()
        let monitor = try namespace.inside { NWPathMonitor(requiredInterfaceType: .loopback) }
        let paths = started(monitor)
        #expect(await paths.next()?.status == .unsatisfied)
        try await namespace.ip("link set lo up")
        let path = try #require(await paths.next())
        #expect(path.status == .satisfied && path.names == ["lo"] && path.usesInterfaceType(.loopback))
        #expect(path.gateways == [] && !path.supportsDNS && !path.isExpensive && path.supportsIPv4)
        monitor.cancel()
    }

    @Test("The type follows from the device, not from its name")
    func type() async throws {
        let namespace = try await Namespace(
            """
            link set lo up
            link add wlan0 type veth peer name eth0
            address add 10.0.0.2/24 dev wlan0
            link set wlan0 up
            link set eth0 up
            route add default dev wlan0
            """)
        let wifi = try namespace.inside { NWPathMonitor(requiredInterfaceType: .wifi) }
        let wired = try namespace.inside { NWPathMonitor(requiredInterfaceType: .wiredEthernet) }
        var paths = wired.makeAsyncIterator()
        while let path = await paths.next(), path.names != ["wlan0"] {}
        var none = wifi.makeAsyncIterator()
        #expect(await none.next()?.status == .unsatisfied)
    }

    /// How a link with the default route is made, and its type.
    private static let kinds: [(String, NWInterface.InterfaceType)] = [
        ("link add x0 type veth peer name x1\nlink set x1 up", .wiredEthernet),
        ("link add x0 link e0 type macvlan mode bridge", .wiredEthernet),
        ("link add x0 link e0 type ipvlan mode l2", .wiredEthernet),
        ("link add x0 type netkit peer name x1\nlink set x1 up", .wiredEthernet),
        ("link add x0 link e0 type vlan id 5", .wiredEthernet),
        ("link add x0 type bridge\nlink set e0 master x0", .wiredEthernet),
        ("link add x0 type ifb", .other),
        ("link add x0 type dummy", .other),
        ("link add x0 type vxlan id 4 dstport 4789 dev e0", .other),
        ("link add x0 type wireguard", .other),
    ]

    @Test("Each kind of link has one type: at the start, at the first call, and for a required type", arguments: kinds)
    func kind(commands: String, type: NWInterface.InterfaceType) async throws {
        let namespace = try await Namespace(.subnet)
        for command in commands.split(separator: "\n") {
            let process = try RunningProcess(["ip"] + command.split(separator: " ").map(String.init), in: namespace)
            // This kernel may not have the kind.
            guard try await process.end().status == 0 else { return }
        }
        try await namespace.ip("address add 10.9.0.2/24 dev x0\nlink set x0 up\nroute add default dev x0")
        let (plain, required) = try namespace.inside {
            (NWPathMonitor(), NWPathMonitor(requiredInterfaceType: type))
        }
        let wrong = try namespace.inside {
            NWPathMonitor(requiredInterfaceType: type == .other ? .wiredEthernet : .other)
        }
        let (plainPaths, requiredPaths, wrongPaths) = (started(plain), started(required), started(wrong))
        try await waitUntil { plain.currentPath.status == .satisfied }
        for path in [plain.currentPath, required.currentPath, await plainPaths.next(), await requiredPaths.next()] {
            let path = try #require(path)
            #expect(path.status == .satisfied && path.usesInterfaceType(type), "\(commands): \(path)")
            #expect(path.availableInterfaces.first?.type == type, "\(commands): \(path)")
        }
        #expect(wrong.currentPath.status == .unsatisfied, "\(commands)")
        #expect(await wrongPaths.next()?.status == .unsatisfied, "\(commands)")
        for monitor in [plain, required, wrong] { monitor.cancel() }
    }

    @Test("An iterator gets every change, and the kernel is watched only while it exists")
    func iterator() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { NWPathMonitor() }
        do {
            var iterator = monitor.makeAsyncIterator()
            #expect(await iterator.next()?.status == .satisfied)
            try await namespace.until(isWatched: true)
            try await namespace.ip(.deleteDefault)
            #expect(await iterator.next()?.status == .unsatisfied)
        }
        try await namespace.until(isWatched: false)
        var again = monitor.makeAsyncIterator()
        #expect(await again.next()?.status == .unsatisfied)
    }

    @Test("Unrelated routes make no call")
    func unrelated() async throws {
        let namespace = try await Namespace(.gateway)
        let monitor = try namespace.inside { NWPathMonitor() }
        let paths = started(monitor)
        #expect(await paths.next()?.status == .satisfied)
        try namespace.inside { for _ in 0..<100 { #expect(RejectedRoute.add() && RejectedRoute.delete()) } }
        try await namespace.ip("link set e0 mtu 1400\n" + .deleteDefault)
        #expect(await paths.next()?.status == .unsatisfied)
        monitor.cancel()
        #expect(await paths.rest() == [])
    }

    @Test("A thousand monitors share one watch, and each is called")
    func many() async throws {
        let namespace = try await Namespace(.gateway)
        let monitors = try namespace.inside {
            (0..<1000).map { $0 % 2 == 0 ? NWPathMonitor() : NWPathMonitor(requiredInterfaceType: .wiredEthernet) }
        }
        let paths = Recorder<NWPath.Status>()
        for monitor in monitors {
            monitor.pathUpdateHandler = { paths.record($0.status) }
            monitor.start(queue: queue)
        }
        for _ in monitors { #expect(await paths.next() == .satisfied) }
        #expect(try namespace.watches() == 1)
        try await namespace.ip(.deleteDefault)
        for _ in monitors { #expect(await paths.next() == .unsatisfied) }
        for monitor in monitors { monitor.cancel() }
        try await namespace.until(isWatched: false)
    }

    @Test("A monitor of the process's namespace can be started on a thread in another one")
    func otherThread() async throws {
        let namespace = try await Namespace()
        let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
        let paths = Recorder<NWPath>()
        monitor.pathUpdateHandler = { paths.record($0) }
        try namespace.inside { monitor.start(queue: queue) }
        #expect(await paths.next()?.status == .satisfied)
        #expect(try namespace.watches() == 0)
        monitor.cancel()
    }

    @Test("A monitor that nobody starts opens nothing")
    func unstarted() async throws {
        let monitors = (0..<100).map { _ in NWPathMonitor() }
        #expect(monitors.allSatisfy { $0.currentPath.status == .unsatisfied && $0.queue == nil })
    }

    @Test("Storms of start, cancel and release leave nothing behind, and no call comes after cancel on the queue")
    func storm() async throws {
        let namespace = try await Namespace(.subnet)
        let flapping = try namespace.flapDefaultRoute()
        let (ended, late) = (Recorder<Void>(), Recorder<Void>())
        let done = Recorder<Result<Void, any Error>>()
        let queue = queue
        // On its own thread, as other tests need the threads of tasks.
        try startThread {
            done.record(Result { try namespace.inside { runStorm(Repetitions.cycles, queue, ended, late) } })
        }
        try await #require(done.next()).get()
        for _ in 0..<Repetitions.cycles { await ended.next() }
        #expect(late.count == 0)
        withExtendedLifetime(flapping) {}
        try await namespace.until(isWatched: false)
    }

    @Test("The last path is right although it changes while monitors start")
    func race() async throws {
        let namespace = try await Namespace(.gateway)
        for turn in 0..<min(Repetitions.tries, 200) {
            let monitor = try namespace.inside { NWPathMonitor() }
            let paths = Recorder<NWPath>()
            async let change: Void = namespace.ip(turn % 2 == 0 ? .deleteDefault : .addDefault)
            monitor.pathUpdateHandler = { paths.record($0) }
            monitor.start(queue: queue)
            try await change
            let wanted: NWPath.Status = turn % 2 == 0 ? .unsatisfied : .satisfied
            while let path = await paths.next(), path.status != wanted {}
            #expect(monitor.currentPath.status == wanted)
            monitor.cancel()
        }
    }
}

@Suite("A path monitor in a process without free descriptors", .limited)
struct ExhaustionTests {
    @Test("The path is unsatisfied until descriptors are free again")
    func recovery() async {
        await #expect(processExitsWith: .success) {
            // libdispatch needs a descriptor for timers, and loses a timer if there is none. This long timer and the
            // wait for a short one make sure that it has the descriptor.
            DispatchQueue.global().asyncAfter(deadline: .now() + 1000) {}
            await withCheckedContinuation { isReady in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { isReady.resume() }
            }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = limit
            none.rlim_cur = 0
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
            let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
            let paths = Recorder<NWPath.Status>()
            monitor.pathUpdateHandler = { paths.record($0.status) }
            monitor.start(queue: .global())
            #expect(await paths.next() == .unsatisfied)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            #expect(await paths.next() == .satisfied)
        }
    }
}

/// Each monitor is started and cancelled: at once, on its queue, on another thread, in its handler, or through a weak
/// reference after the last strong one was released. Some are released by two threads.
func runStorm(_ cycles: Int, _ queue: DispatchQueue, _ ended: Recorder<Void>, _ late: Recorder<Void>) {
    for cycle in 0..<cycles {
        let monitor = NWPathMonitor()
        let probe = DeinitProbe(ended)
        let isCancelled = StopFlag()
        let cancelsInHandler = cycle % 6 == 4
        monitor.pathUpdateHandler = { [weak monitor] _ in
            withExtendedLifetime(probe) { if isCancelled.isSet { late.record(()) } }
            if cancelsInHandler { monitor?.cancel() }
        }
        monitor.start(queue: queue)
        switch cycle % 6 {
        case 0: monitor.cancel()
        case 1:
            queue.sync {
                monitor.cancel()
                isCancelled.set()
            }
        case 2: DispatchQueue.global().async { monitor.cancel() }
        case 3: queue.async { [weak monitor] in monitor?.cancel() }
        case 4: queue.async { withExtendedLifetime(monitor) {} }
        default: DispatchQueue.global().async { [weak monitor] in monitor?.cancel() }
        }
    }
}

private final class StopFlag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
