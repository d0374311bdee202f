// SPDX-License-Identifier: MIT

import NetworkReachability
import Testing

@Suite("Targets of a monitor")
struct TargetTests {
    @Test(
        "The detail of an error says what is wrong with a host",
        arguments: [
            ("", "empty"), ("https://example.com", "scheme"), ("example.com/path", "slash"), ("/", "slash"),
            ("a b", "white space"), (" example.com", "white space"), ("example.com\n", "white space"),
            ("a\u{3000}b", "white space"), ("\t", "white space"), ("a\0b", "NUL"), ("\0", "NUL"),
            ("a\u{FFFE}.example", "converted"), ("😀", "converted"), ("1", "form of 0.0.0.1"),
            ("010.0.0.1", "form of 8.0.0.1"), ("127.1", "form of 127.0.0.1"), ("0x7f000001", "form of 127.0.0.1"),
        ])
    func badHost(host: String, detail: String) {
        let error = #expect(throws: ReachabilityError(.invalidHost)) { try ReachabilityMonitor(host: host) }
        #expect(error?.detail?.contains(detail) == true)
    }

    @Test("A host has at most 1024 bytes")
    func longHost() throws {
        for host in [String(repeating: "a", count: 10_000), String(repeating: "é", count: 513)] {
            #expect(throws: ReachabilityError(.invalidHost)) { try ReachabilityMonitor(host: host) }
        }
        _ = try ReachabilityMonitor(host: String(repeating: "a", count: 1024)).path
    }

    @Test(
        "Any other text is a host name",
        arguments: [
            "localhost", "example.com", "example.com.", "bücher.example", "a", "_x._tcp.example", "127.0.0.1", "::1",
            "fe80::1%lo", "fe80::1%nosuchif", "a:b", "%", "日本.example",
        ])
    func host(host: String) throws {
        _ = try ReachabilityMonitor(host: host).path
    }

    @Test(
        "An address literal may have a zone",
        arguments: ["127.0.0.1", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "fe80::1%lo", "fe80::1%1", "fe80::1%none"])
    func address(address: String) throws {
        _ = try ReachabilityMonitor(address: address).path
    }

    @Test(
        "A text that is not an address literal is an invalid address",
        arguments: [
            "", "localhost", "256.0.0.1", "1.2.3.4.5", "1.2.3.4 ", "1.2.3.4 x", " ::1", "::1 ", "[::1]", "1::2::3",
            "fe80::1%", "fe80::1%sixteen-letters-", "fe80::1%99999999999", "fe80::1%4294967296", "fe80::1%a/b",
            "127.0.0.1%lo", "::1\0", "127.0.0.1\0x", "%lo", "1111111111111111111111111111111111111", "1", "127.1",
            "010.0.0.1", "0x7f.0.0.1",
        ])
    func badAddress(address: String) {
        #expect(throws: ReachabilityError(.invalidAddress)) { try ReachabilityMonitor(address: address) }
        #expect(IPAddress(address) == nil)
    }

    @Test("A pair has at least one address, and both are of one family")
    func pair() throws {
        let (four, six) = (try #require(IPAddress("127.0.0.1")), try #require(IPAddress("::1")))
        for (local, remote) in [(nil, nil), (four, six), (six, four)] as [(IPAddress?, IPAddress?)] {
            let error = #expect(throws: ReachabilityError(.invalidAddress)) {
                try ReachabilityMonitor(localAddress: local, remoteAddress: remote)
            }
            #expect(error?.detail?.isEmpty == false)
        }
        let local = try ReachabilityMonitor(localAddress: four, remoteAddress: IPAddress("127.0.0.2")).path
        #expect(local.source == four && local.destination == IPAddress("127.0.0.2"))
        _ = try ReachabilityMonitor(localAddress: nil, remoteAddress: six).path
        #expect(try ReachabilityMonitor(address: four).path.destination == four)
    }

    @Test("An address of the other family than the options' is invalid")
    func family() throws {
        let options = ReachabilityOptions(addressFamily: .ipv6)
        let address = try #require(IPAddress("127.0.0.1"))
        #expect(throws: ReachabilityError(.invalidAddress)) {
            try ReachabilityMonitor(address: address, options: options)
        }
        #expect(throws: ReachabilityError(.invalidAddress)) {
            try ReachabilityMonitor(host: "127.0.0.1", options: options)
        }
    }

    @Test(
        "An interface's name has 1 to 15 bytes, and does not contradict the zone",
        arguments: ["", "sixteen-letters-", "a\0b"])
    func badInterface(name: String) {
        let options = ReachabilityOptions(interface: name)
        #expect(throws: ReachabilityError(.invalidInterface)) { try ReachabilityMonitor(options: options) }
        #expect(throws: ReachabilityError(.invalidInterface)) {
            try ReachabilityMonitor(host: "localhost", options: options)
        }
        #expect(throws: ReachabilityError(.invalidInterface)) {
            try ReachabilityMonitor(address: "fe80::1%lo", options: ReachabilityOptions(interface: "other"))
        }
    }

    @Test("A monitor has a text for logs, and the addresses of its target")
    func monitor() throws {
        let monitor = try ReachabilityMonitor(address: "127.0.0.1")
        #expect(monitor.debugDescription.hasPrefix("<SCNetworkReachability 0x"))
        #expect(monitor.debugDescription.contains("address = 127.0.0.1"))
        #expect(try monitor.addresses == [#require(IPAddress("127.0.0.1"))])
        #expect(ReachabilityMonitor().addresses == [])
        #expect(ReachabilityMonitor(script: ReachabilityScript(.unreachable(.noRoute))).addresses == [])
    }

    @Test("The text of an error has its code, its errno, its detail and its path")
    func errors() {
        #expect("\(ReachabilityError(.invalidHost))" == "invalid host")
        #expect("\(ReachabilityError(.invalidHost, detail: "it is empty"))" == "invalid host: it is empty")
        #expect("\(ReachabilityError(.system, errno: 12))".hasSuffix(": Cannot allocate memory"))
        let error = ReachabilityError(.system, errno: 24)
        switch error.code {
        case .timedOut: Issue.record()
        case .system: #expect(error.errno == 24)
        default: Issue.record()
        }
    }
}

@Suite("Paths")
struct PathTests {
    @Test(
        "A path is reachable when a packet can leave, or brings up the connection that it needs",
        arguments: [
            ([], false), ([.isDirect], false), ([.reachable], true), ([.reachable, .connectionRequired], false),
            ([.reachable, .connectionRequired, .interventionRequired], false),
            ([.reachable, .connectionRequired, .connectionOnDemand], true),
            ([.reachable, .connectionRequired, .connectionOnTraffic], true),
            ([.reachable, .connectionRequired, .connectionOnTraffic, .interventionRequired], false),
            ([.reachable, .isWWAN], true), ([.reachable, .isLocalAddress, .isDirect], true),
            ([.connectionRequired, .connectionOnTraffic], false),
        ] as [(ReachabilityFlags, Bool)])
    func reachable(flags: ReachabilityFlags, isReachable: Bool) {
        #expect(ReachabilityPath(flags: flags).isReachable == isReachable)
        #expect(!ReachabilityPath(flags: flags, reason: .namePending).isReachable)
        #expect(ReachabilityPath(flags: flags).reason == nil)
        #expect(ReachabilityPath(flags: flags).isViable == isReachable)
        #expect(!ReachabilityPath(flags: flags, flow: .sourceForeign).isViable)
    }

    @Test("A path has one line of text, which says \"reachable\" only of a path that is")
    func text() throws {
        let interface = ReachabilityPath.Interface(name: "wlan0", index: 3, type: .wiFi)
        let source = try #require(IPAddress("192.0.2.2"))
        let paths: [(ReachabilityPath, String)] = [
            (.reachable, "reachable"), (.unreachable(.noCarrier), "not reachable: no carrier"),
            (.unreachable(.undetermined), "not reachable: undetermined"),
            (ReachabilityPath(flags: .reachable, reason: .namePending, interface: interface), "pending"),
            (ReachabilityPath(flags: [.reachable, .connectionRequired]), "not reachable: connection required"),
            (
                ReachabilityPath(flags: [.reachable, .isDirect], interface: interface, source: source),
                "reachable on-link dev wlan0 type wifi src 192.0.2.2"
            ),
        ]
        for (path, text) in paths { #expect("\(path)" == text) }
    }

    @Test("Flags have Apple's bits and texts")
    func flags() {
        let all: [(ReachabilityFlags, UInt32)] = [
            (.transientConnection, 1 << 0), (.reachable, 1 << 1), (.connectionRequired, 1 << 2),
            (.connectionOnTraffic, 1 << 3), (.interventionRequired, 1 << 4), (.connectionOnDemand, 1 << 5),
            (.isLocalAddress, 1 << 16), (.isDirect, 1 << 17), (.isWWAN, 1 << 18), (.connectionAutomatic, 1 << 3),
        ]
        for (flag, bit) in all { #expect(flag.rawValue == bit) }
        #expect("\(ReachabilityFlags([.reachable, .isDirect]))" == "Reachable,Directly Reachable Address")
        #expect("\(ReachabilityFlags())" == "Not Reachable")
    }

    @Test("Reasons have a text, also those that this version does not know")
    func reasons() {
        #expect("\(ReachabilityReason.noCarrier)" == "no carrier")
        #expect("\(ReachabilityReason.undetermined)" == "undetermined")
        #expect("\(ReachabilityReason(rawValue: 1000))" != "")
        #expect(ReachabilityReason.interfaceMissing.rawValue == 13)
    }

    @Test(
        "Interface types have the C library's values, and a text",
        arguments: [
            (.other, 0, "other"), (.loopback, 1, "loopback"), (.wiredEthernet, 2, "wiredEthernet"), (.wiFi, 3, "wiFi"),
            (.cellular, 4, "cellular"), (.pointToPoint, 5, "pointToPoint"), (.tunnel, 6, "tunnel"),
            (.virtual, 7, "virtual"),
        ] as [(ReachabilityPath.Interface.InterfaceType, UInt32, String)])
    func types(type: ReachabilityPath.Interface.InterfaceType, number: UInt32, word: String) {
        #expect(type.rawValue == number && "\(type)" == word)
        let interface = ReachabilityPath.Interface(name: "any0", index: 1, type: .init(rawValue: number))
        let script = ReachabilityScript(ReachabilityPath(flags: .reachable, interface: interface))
        #expect(ReachabilityMonitor(script: script).path.interface?.type == type)
    }

    @Test("An interface type that this version does not know is not equal to any known type")
    func unknownType() {
        let type = ReachabilityPath.Interface.InterfaceType(rawValue: 1000)
        #expect("\(type)" == "other" && type != .other)
    }

    @Test(
        "Addresses are parsed and formatted",
        arguments: [
            ("192.0.2.1", "192.0.2.1", 4), ("2001:DB8::1", "2001:db8::1", 16),
            ("fe80::1%lo", "fe80::1%lo", 16), ("fe80::1%1", "fe80::1%lo", 16), ("::", "::", 16),
            ("fe80::1%4294967295", "fe80::1%4294967295", 16), ("fe80::1%0", nil, 16), ("fe80::1%+1", nil, 16),
        ] as [(String, String?, Int)])
    func addresses(literal: String, text: String?, count: Int) throws {
        guard let text else {
            #expect(IPAddress(literal) == nil)
            return
        }
        let address = try #require(IPAddress(literal))
        #expect(address.description == text)
        #expect(address.bytes.count == count)
        #expect(address.isIPv6 == (count == 16))
        #expect(IPAddress(text) == address && IPAddress(bytes: address.bytes, scopeID: address.scopeID) == address)
        #expect(Set([address, address, try #require(IPAddress("192.0.2.77"))]).count == 2)
    }

    @Test("Addresses are made of 4 or 16 bytes", arguments: [0, 3, 5, 15, 17])
    func bytes(count: Int) {
        #expect(IPAddress(bytes: Array(repeating: 1, count: count)) == nil)
        #expect(IPAddress(bytes: [1, 2, 3, 4], scopeID: 1) == nil)
    }

    @Test("IPv4 and IPv6 addresses of the same bytes differ")
    func families() throws {
        let four = try #require(IPAddress("1.2.3.4"))
        let six = try #require(IPAddress("102:304::"))
        #expect(four != six)
        #expect(four.bytes == [1, 2, 3, 4])
        #expect(six.bytes == [1, 2, 3, 4] + Array(repeating: 0, count: 12))
    }
}
