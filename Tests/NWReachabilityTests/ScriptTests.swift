// SPDX-License-Identifier: MIT

import Dispatch
import NWReachability
import Synchronization
import TestSupport
import Testing

typealias Network = NWPathMonitor.Script.Network
typealias Interface = NWPathMonitor.Script.Interface

extension Network {
    /// One interface of this name. Networks with different names differ.
    static func over(_ name: String) -> Network {
        Network(interfaces: [Interface(name, type: .other, index: 7)])
    }
}

extension NWPath {
    var names: [String] { availableInterfaces.map(\.name) }
    var gatewayTexts: [String] { gateways.map(\.debugDescription) }
}

@Suite("What a path reports")
struct PathTests {
    private func path(_ network: Network) -> NWPath {
        current(NWPathMonitor(script: NWPathMonitor.Script(network)))
    }

    private func current(_ monitor: NWPathMonitor) -> NWPath {
        monitor.start(queue: .global())
        defer { monitor.cancel() }
        return monitor.currentPath
    }

    @Test("A path over Wi-Fi")
    func wifi() {
        let path = path(.wifi)
        #expect(path.status == .satisfied && path.names == ["wlan0"])
        #expect(path.availableInterfaces[0].type == .wifi && path.availableInterfaces[0].index == 2)
        #expect(path.usesInterfaceType(.wifi) && !path.usesInterfaceType(.cellular) && !path.usesInterfaceType(.other))
        #expect(path.supportsIPv4 && path.supportsIPv6 && path.supportsDNS && !path.isExpensive)
        #expect(path.gatewayTexts == ["192.0.2.1:0"])
        #expect(!path.isConstrained && !path.isUltraConstrained && path.linkQuality == .unknown)
        #expect(path.localEndpoint == nil && path.remoteEndpoint == nil)
        #expect(
            path.debugDescription == "satisfied (Path is satisfied), interface: wlan0, ipv4, ipv6, dns, uses wifi")
    }

    @Test("A path over cellular is expensive")
    func cellular() {
        let path = path(.cellular)
        #expect(path.isExpensive && path.usesInterfaceType(.cellular))
        #expect(
            path.debugDescription
                == "satisfied (Path is satisfied), interface: wwan0, ipv4, dns, expensive, uses cell")
    }

    @Test("A tunnel uses its own type, and that of what carries it")
    func tunnel() {
        let path = path(
            Network(interfaces: [
                Interface("tun0", type: .other, index: 9, underlay: [.cellular]), Network.wifi.interfaces[0],
            ]))
        #expect(path.usesInterfaceType(.other) && path.usesInterfaceType(.cellular) && path.isExpensive)
        // IPv6 leaves over the second interface.
        #expect(path.usesInterfaceType(.wifi) && path.names == ["tun0", "wlan0"])
        #expect(!path.usesInterfaceType(.wiredEthernet))
    }

    @Test("An interface that is only available is not used")
    func available() {
        let path = path(Network(interfaces: Network.wiredEthernet.interfaces + Network.cellular.interfaces))
        #expect(path.names == ["eth0", "wwan0"] && !path.usesInterfaceType(.cellular) && !path.isExpensive)
    }

    @Test("Without an interface, a path is not satisfied")
    func offline() {
        let path = path(.offline)
        #expect(path.status == .unsatisfied && path.unsatisfiedReason == .notAvailable && path.names == [])
        #expect(!path.supportsIPv4 && !path.supportsIPv6 && !path.supportsDNS && path.gateways == [])
        #expect(path.debugDescription == "unsatisfied (No network route)")
        #expect("\(path.status) \(path.unsatisfiedReason)" == "unsatisfied notAvailable")
    }

    @Test("A script plays an expensive and constrained interface, and a reason")
    func plays() {
        var network = Network.wifi
        network.interfaces[0].isExpensive = true
        #expect(path(network).isExpensive && !path(network).isConstrained && path(network) != path(.wifi))
        network.interfaces[0].isConstrained = true
        #expect(path(network).isConstrained && path(network).debugDescription.contains("expensive, constrained"))
        #expect(!path(network).usesInterfaceType(.cellular) && path(network).usesInterfaceType(.wifi))
        var offline = Network.offline
        offline.unsatisfiedReason = .vpnInactive
        #expect(path(offline).unsatisfiedReason == .vpnInactive && path(offline) != path(.offline))
    }

    @Test("ppp that dials on demand requires a connection")
    func demand() {
        let path = path(
            Network(interfaces: [Interface("ppp0", type: .other, index: 5, requiresConnection: true)]))
        #expect(path.status == .requiresConnection && path.supportsIPv4 && !path.supportsDNS)
        #expect(path.debugDescription.hasPrefix("satisfiable ("))
    }

    @Test("DNS needs a name server that packets can leave for")
    func dns() {
        var network = Network.wifi
        network.canReachNameServers = false
        #expect(!path(network).supportsDNS)
        network = .wifi
        network.nameServers = []
        #expect(!path(network).supportsDNS)
    }

    @Test("Gateways are listed once, IPv4 first, link-local ones with their interface")
    func gateways() {
        var network = Network.wifi
        network.interfaces[0].gateways = ["fe80::1%lo", "192.0.2.1", "192.0.2.9"]
        #expect(path(network).gatewayTexts == ["192.0.2.1:0", "fe80::1%lo.0"])
    }

    @Test("Paths are equal only with the same name servers and the same order of interfaces")
    func equality() {
        var network = Network.wifi
        #expect(path(network) == path(.wifi))
        network.nameServers = ["192.0.2.54"]
        #expect(path(network) != path(.wifi))
        let both = Network.wifi.interfaces + Network.cellular.interfaces
        #expect(path(Network(interfaces: both)) != path(Network(interfaces: both.reversed())))
    }

    @Test("Interfaces are equal by name and index, and another type makes another path")
    func interfaceEquality() {
        let one = path(Network(interfaces: [Interface("x0", type: .wifi, index: 7)]))
        let other = path(Network(interfaces: [Interface("x0", type: .other, index: 7)]))
        #expect(one.availableInterfaces == other.availableInterfaces && one != other)
        #expect(Set(one.availableInterfaces + other.availableInterfaces).count == 1)
        let renamed = path(Network(interfaces: [Interface("x1", type: .wifi, index: 7)]))
        #expect(one.availableInterfaces != renamed.availableInterfaces)
    }

    @Test(
        "Only interfaces of the required type count",
        arguments: [
            (.wifi, ["wlan0"], false), (.cellular, ["wwan0"], true), (.wiredEthernet, [], false), (.other, [], false),
            (.loopback, ["lo"], false),
        ] as [(NWInterface.InterfaceType, [String], Bool)])
    func required(type: NWInterface.InterfaceType, names: [String], isExpensive: Bool) {
        let script = NWPathMonitor.Script(
            Network(interfaces: Network.wifi.interfaces + Network.cellular.interfaces))
        let path = current(NWPathMonitor(script: script, requiredInterfaceType: type))
        #expect(path.names == names && path.isExpensive == isExpensive)
        #expect(path.status == (names.isEmpty ? .unsatisfied : .satisfied))
        #expect(path.usesInterfaceType(type) == !names.isEmpty)
        #expect((path.supportsIPv4 || path.supportsIPv6) == !names.isEmpty)
        #expect(path.supportsDNS == (!names.isEmpty && type != .loopback))
        if type == .loopback { #expect(path.gateways == []) }
    }

    @Test("Loopback is not satisfied while lo is down")
    func loopbackDown() {
        let script = NWPathMonitor.Script(Network(isLoopbackUp: false))
        #expect(current(NWPathMonitor(script: script, requiredInterfaceType: .loopback)).status == .unsatisfied)
    }

    @Test("The best of the interfaces that are not prohibited counts")
    func prohibited() {
        let script = NWPathMonitor.Script(
            Network(interfaces: Network.wifi.interfaces + Network.cellular.interfaces))
        func path(_ types: [NWInterface.InterfaceType]) -> NWPath {
            current(NWPathMonitor(script: script, prohibitedInterfaceTypes: types))
        }
        #expect(path([.wifi]).names == ["wwan0"] && path([.wifi]).isExpensive)
        #expect(path([]) == current(NWPathMonitor(script: script)))
        #expect(path([.wifi, .cellular]).status == .unsatisfied)
    }
}

@Suite("The handler of a monitor", .limited)
struct HandlerTests {
    private let script = NWPathMonitor.Script(.over("a"))
    private let queue = DispatchQueue(label: "paths")

    private func started(_ monitor: NWPathMonitor) -> Recorder<String> {
        let calls = Recorder<String>()
        monitor.pathUpdateHandler = { calls.record($0.names.joined()) }
        monitor.start(queue: queue)
        return calls
    }

    @Test("Before the start, the path is not satisfied and there is no queue")
    func beforeStart() {
        let monitor = NWPathMonitor(script: script)
        #expect(monitor.currentPath.status == .unsatisfied && monitor.currentPath.unsatisfiedReason == .notAvailable)
        #expect(monitor.currentPath.availableInterfaces == [] && !monitor.currentPath.supportsIPv4)
        #expect(monitor.queue == nil && script.watchedMonitors == 0)
    }

    @Test("The path is current when start returns, and the first call comes later, on the queue, once")
    func first() async {
        let monitor = NWPathMonitor(script: script)
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let calls = Recorder<String>()
        monitor.pathUpdateHandler = { path in
            #expect(DispatchQueue.getSpecific(key: key) == true)
            calls.record(path.names.joined())
        }
        queue.suspend()
        monitor.start(queue: queue)
        #expect(monitor.currentPath.names == ["a"] && monitor.queue === queue && calls.count == 0)
        queue.resume()
        #expect(await calls.next() == "a")
        script.play(.over("a"))
        queue.sync {}
        monitor.cancel()
        #expect(await calls.rest() == [])
    }

    @Test("Each change makes a call, and a slow handler gets only the newest path")
    func changes() async {
        let monitor = NWPathMonitor(script: script)
        let calls = started(monitor)
        #expect(await calls.next() == "a")
        script.play(.over("b"))
        #expect(await calls.next() == "b")
        queue.sync { for name in ["c", "b", "d"] { script.play(.over(name)) } }
        #expect(await calls.next() == "d")
        // A change that is undone before the call is none.
        queue.sync { for name in ["e", "d"] { script.play(.over(name)) } }
        queue.sync {}
        #expect(monitor.currentPath.names == ["d"])
        monitor.cancel()
        #expect(await calls.rest() == [])
    }

    @Test("Calls do not overlap on a concurrent queue")
    func concurrent() async {
        let monitor = NWPathMonitor(script: script)
        let (calls, mayReturn) = (Recorder<String>(), DispatchSemaphore(value: 0))
        let isInCall = Mutex(false)
        monitor.pathUpdateHandler = { path in
            isInCall.withLock {
                #expect(!$0)
                $0 = true
            }
            calls.record(path.names.joined())
            mayReturn.wait()
            isInCall.withLock { $0 = false }
        }
        monitor.start(queue: .global())
        #expect(await calls.next() == "a")
        for name in ["b", "c"] { script.play(.over(name)) }
        mayReturn.signal()
        #expect(await calls.next() == "c")
        mayReturn.signal()
        monitor.cancel()
    }

    @Test("A second start, and one after cancel, change nothing")
    func again() async {
        let monitor = NWPathMonitor(script: script)
        let calls = started(monitor)
        #expect(await calls.next() == "a")
        monitor.start(queue: .global())
        #expect(monitor.queue === queue)
        monitor.cancel()
        monitor.cancel()
        monitor.start(queue: .global())
        #expect(monitor.queue === queue && monitor.currentPath.names == ["a"] && script.watchedMonitors == 0)
        script.play(.over("b"))
        #expect(monitor.currentPath.names == ["a"])

        let other = NWPathMonitor(script: script)
        other.cancel()
        other.start(queue: queue)
        #expect(other.queue == nil && other.currentPath.status == .unsatisfied)
        #expect(await calls.rest() == [])
    }

    @Test("After cancel on the queue, no call comes")
    func cancelOnQueue() async {
        let monitor = NWPathMonitor(script: script)
        let calls = started(monitor)
        #expect(await calls.next() == "a")
        queue.sync {
            script.play(.over("b"))
            monitor.cancel()
        }
        queue.sync {}
        #expect(await calls.rest() == [])
    }

    @Test("The path follows without a handler, and a late handler gets the next change")
    func lateHandler() async {
        let monitor = NWPathMonitor(script: script)
        #expect(monitor.pathUpdateHandler == nil)
        monitor.start(queue: queue)
        queue.sync {}
        script.play(.over("b"))
        queue.sync {}
        #expect(monitor.currentPath.names == ["b"])
        let calls = Recorder<String>()
        monitor.pathUpdateHandler = { calls.record($0.names.joined()) }
        queue.sync {}
        // A wrapper calls the handler that was there before.
        let before = monitor.pathUpdateHandler
        monitor.pathUpdateHandler = { path in
            calls.record("wrapped")
            before?(path)
        }
        script.play(.over("c"))
        #expect(await calls.next() == "wrapped")
        #expect(await calls.next() == "c")
        monitor.pathUpdateHandler = nil
        script.play(.over("d"))
        queue.sync {}
        #expect(monitor.currentPath.names == ["d"])
        monitor.cancel()
        #expect(await calls.rest() == [])
    }

    @Test("The handler may start, cancel, replace itself, and read the path")
    func inside() async {
        let monitor = NWPathMonitor(script: script)
        let calls = Recorder<String>()
        monitor.pathUpdateHandler = { [unowned monitor] path in
            #expect(monitor.currentPath == path)
            monitor.start(queue: .main)
            monitor.pathUpdateHandler = { [unowned monitor] path in
                calls.record(path.names.joined())
                monitor.cancel()
            }
            calls.record("first")
        }
        monitor.start(queue: queue)
        #expect(await calls.next() == "first")
        script.play(.over("b"))
        #expect(await calls.next() == "b")
        script.play(.over("c"))
        queue.sync {}
        #expect(await calls.rest() == [])
    }

    @Test("Cancel releases the handler, and with it a monitor that the handler holds")
    func cycle() async {
        let released = Recorder<Void>()
        do {
            let probe = DeinitProbe(released)
            let monitor = NWPathMonitor(script: script)
            monitor.pathUpdateHandler = { _ in withExtendedLifetime((monitor, probe)) {} }
            monitor.start(queue: queue)
            queue.sync {}
            monitor.cancel()
        }
        await released.next()
        #expect(script.watchedMonitors == 0)
    }

    @Test("A started monitor that is released goes on until cancel, which frees it")
    func released() async {
        let (calls, released) = (Recorder<String>(), Recorder<Void>())
        weak var weakMonitor: NWPathMonitor?
        do {
            let probe = DeinitProbe(released)
            let monitor = NWPathMonitor(script: script)
            monitor.pathUpdateHandler = { path in
                withExtendedLifetime(probe) {}
                calls.record(path.names.joined())
            }
            monitor.start(queue: queue)
            weakMonitor = monitor
        }
        for name in ["a", "b", "c"] {
            script.play(.over(name))
            #expect(await calls.next() == name)
        }
        #expect(weakMonitor?.currentPath.names == ["c"] && released.count == 0)
        weakMonitor?.cancel()
        await released.next()
        queue.sync {}
        #expect(weakMonitor == nil && script.watchedMonitors == 0)
    }

    @Test("A started monitor without a handler is kept, too")
    func releasedWithoutHandler() {
        weak var weakMonitor: NWPathMonitor?
        do {
            let monitor = NWPathMonitor(script: script)
            monitor.start(queue: queue)
            weakMonitor = monitor
        }
        script.play(.over("b"))
        #expect(weakMonitor?.currentPath.names == ["b"] && script.watchedMonitors == 1)
        weakMonitor?.cancel()
        #expect(weakMonitor == nil && script.watchedMonitors == 0)
    }

    @Test("A monitor that was never started is freed with its last reference")
    func releasedUnstarted() async {
        let released = Recorder<Void>()
        weak var weakMonitor: NWPathMonitor?
        do {
            let probe = DeinitProbe(released)
            let monitor = NWPathMonitor(script: script)
            monitor.pathUpdateHandler = { _ in withExtendedLifetime(probe) {} }
            weakMonitor = monitor
        }
        await released.next()
        #expect(weakMonitor == nil && script.watchedMonitors == 0)
    }

    @Test("A stream that keeps no reference to its monitor gets every path, and its end cancels the monitor")
    func stream() async {
        weak var weakMonitor: NWPathMonitor?
        let paths = AsyncStream<String> { [script, queue] continuation in
            let monitor = NWPathMonitor(script: script)
            monitor.pathUpdateHandler = { continuation.yield($0.names.joined()) }
            continuation.onTermination = { [weak monitor] _ in monitor?.cancel() }
            monitor.start(queue: queue)
            weakMonitor = monitor
        }
        var names: [String] = []
        for await name in paths {
            names.append(name)
            if name == "c" { break }
            script.play(.over(name == "a" ? "b" : "c"))
        }
        #expect(names == ["a", "b", "c"])
        _ = consume paths
        // A call may be on its way through the queue.
        queue.sync {}
        #expect(weakMonitor == nil && script.watchedMonitors == 0)
    }

    @Test("A monitor whose last reference goes in its handler goes on, and may be cancelled there")
    func releasedInside() async {
        let calls = Recorder<String>()
        let holder = Holder()
        holder.monitor.withLock { monitor in
            monitor = NWPathMonitor(script: script)
            monitor?.pathUpdateHandler = { [weak monitor] path in
                // Released without the lock.
                let last = holder.monitor.withLock { monitor in
                    defer { monitor = nil }
                    return monitor
                }
                withExtendedLifetime(last) {}
                if path.names == ["b"] { monitor?.cancel() }
                calls.record(path.names.joined())
            }
            monitor?.start(queue: queue)
        }
        #expect(await calls.next() == "a")
        script.play(.over("b"))
        #expect(await calls.next() == "b")
        queue.sync {}
        #expect(script.watchedMonitors == 0)
    }

    @Test("The last path wins although paths come from several threads")
    func threads() async {
        let monitor = NWPathMonitor(script: script)
        let calls = started(monitor)
        await withTaskGroup { group in
            for thread in 0..<4 {
                group.addTask { for turn in 0..<100 { script.play(.over("\(thread).\(turn)")) } }
            }
        }
        script.play(.over("end"))
        while let name = await calls.next(), name != "end" {}
        queue.sync {}
        #expect(monitor.currentPath.names == ["end"])
        monitor.cancel()
        #expect(await calls.rest() == [])
    }
}

@Suite("A path monitor as an asynchronous sequence", .limited)
struct SequenceTests {
    private let script = NWPathMonitor.Script(.over("a"))

    @Test("A call of next() on an actor does not leave the actor if there is a path")
    func staying() async {
        let monitor = NWPathMonitor(script: script)
        let jobs = await CountingActor().jobs { _ in
            var iterator = monitor.makeAsyncIterator()
            _ = await iterator.next()
        }
        #expect(jobs == 0)
    }

    @Test("An iterator needs no start, and gets the current path and then the newest distinct ones")
    func distinct() async {
        let monitor = NWPathMonitor(script: script)
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next()?.names == ["a"])
        #expect(monitor.queue == nil && monitor.currentPath.names == ["a"])
        for name in ["a", "b", "c", "b"] { script.play(.over(name)) }
        #expect(await iterator.next()?.names == ["b"])
        var other = monitor.makeAsyncIterator()
        #expect(await other.next()?.names == ["b"])
        script.play(.over("d"))
        #expect(await iterator.next()?.names == ["d"])
        #expect(await other.next()?.names == ["d"])
        #expect(script.watchedMonitors == 1)
    }

    @Test("An iterator keeps its monitor, and the last one ends the watch")
    func keeps() async {
        do {
            var iterator = NWPathMonitor(script: script).makeAsyncIterator()
            #expect(await iterator.next()?.names == ["a"])
            script.play(.over("b"))
            #expect(await iterator.next()?.names == ["b"])
            #expect(script.watchedMonitors == 1)
        }
        #expect(script.watchedMonitors == 0)
    }

    @Test("Iterators end with cancel, and at once if that was called before")
    func cancel() async {
        let monitor = NWPathMonitor(script: script)
        let received = Recorder<Void>()
        let task = Task { for await _ in monitor { received.record(()) } }
        await received.next()
        monitor.cancel()
        await task.value
        var late = monitor.makeAsyncIterator()
        #expect(await late.next() == nil)
        #expect(script.watchedMonitors == 0)
    }

    @Test("An iterator ends with its task, and the others go on")
    func task() async {
        let monitor = NWPathMonitor(script: script)
        var iterator = monitor.makeAsyncIterator()
        let received = Recorder<Void>()
        let task = Task { for await _ in monitor { received.record(()) } }
        await received.next()
        task.cancel()
        await task.value
        #expect(await iterator.next()?.names == ["a"])
        #expect(script.watchedMonitors == 1)
    }

    @Test("Iterators and the handler are independent")
    func handler() async {
        let monitor = NWPathMonitor(script: script)
        let calls = Recorder<String>()
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next()?.names == ["a"])
        monitor.pathUpdateHandler = { calls.record($0.names.joined()) }
        monitor.start(queue: DispatchQueue(label: "paths"))
        #expect(await calls.next() == "a")
        script.play(.over("b"))
        #expect(await calls.next() == "b")
        #expect(await iterator.next()?.names == ["b"])
        monitor.cancel()
        #expect(await iterator.next() == nil)
    }
}

private final class Holder: Sendable {
    let monitor = Mutex<NWPathMonitor?>(nil)
}
