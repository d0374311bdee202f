// SPDX-License-Identifier: MIT

import FoundationEssentials
import NWReachability
import Testing

@Suite("Addresses and endpoints")
struct AddressTests {
    @Test(
        "An IPv4 address is parsed as getaddrinfo does",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("127.1", "127.0.0.1"), ("0x7f.1", "127.0.0.1"), ("", nil),
            ("192.0.2", "192.0.0.2"), ("192.0.2.256", nil), ("example.com", nil), ("::1", nil),
            ("192.0.2.1%lo", "192.0.2.1%lo"),
            ("192.0.2.1%none", nil),
        ] as [(String, String?)])
    func ipv4(text: String, expected: String?) {
        #expect(IPv4Address(text)?.debugDescription == expected)
    }

    @Test(
        "An IPv6 address is parsed as getaddrinfo does",
        arguments: [
            ("2001:db8::1", "2001:db8::1"), ("::", "::"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("", nil),
            ("fe80::1%lo", "fe80::1%lo"), ("::1%lo", "::1%lo"), ("fe80::1%1", "fe80::1%lo"),
            ("fe80::1%none", nil), ("192.0.2.1", nil), ("2001:db8", nil),
        ] as [(String, String?)])
    func ipv6(text: String, expected: String?) {
        #expect(IPv6Address(text)?.debugDescription == expected)
    }

    @Test("An address is made from as many bytes as it has")
    func bytes() {
        #expect(IPv4Address(Data([192, 0, 2, 1])) == IPv4Address("192.0.2.1"))
        #expect(IPv4Address(Data([192, 0, 2])) == nil)
        #expect(IPv6Address(Data([UInt8](repeating: 0, count: 16))) == .any)
        #expect(IPv6Address(Data()) == nil)
        #expect(IPv4Address.loopback.rawValue == Data([127, 0, 0, 1]))
        // A slice does not begin at 0.
        #expect(IPv4Address(Data([0, 192, 0, 2, 1])[1...])?.debugDescription == "192.0.2.1")
    }

    @Test("The constants are the well-known addresses")
    func constants() {
        let ipv4: [IPv4Address] = [
            .any, .broadcast, .loopback, .allHostsGroup, .allRoutersGroup, .allReportsGroup, .mdnsGroup,
        ]
        #expect(
            ipv4.map(\.debugDescription) == [
                "0.0.0.0", "255.255.255.255", "127.0.0.1", "224.0.0.1", "224.0.0.2", "224.0.0.22", "224.0.0.251",
            ])
        let ipv6: [IPv6Address] = [.any, .broadcast, .loopback, .nodeLocalNodes, .linkLocalNodes, .linkLocalRouters]
        #expect(ipv6.map(\.debugDescription) == ["::", "::", "::1", "ff01::1", "ff02::1", "ff02::2"])
    }

    @Test("An address knows its kind")
    func kinds() throws {
        #expect(IPv4Address.loopback.isLoopback && !IPv4Address.any.isLoopback)
        #expect(IPv4Address("127.0.0.2")?.isLoopback == false && IPv4Address("127.0.0.1%lo")?.isLoopback == false)
        #expect(try #require(IPv4Address("169.254.7.7")).isLinkLocal)
        #expect(IPv4Address.mdnsGroup.isMulticast && !IPv4Address.broadcast.isMulticast)
        #expect(IPv6Address.any.isAny && !IPv6Address.loopback.isAny)
        #expect(IPv6Address.loopback.isLoopback && !IPv6Address.loopback.isIPv4Compatabile)
        #expect(try #require(IPv6Address("febf::1")).isLinkLocal)
        #expect(try #require(IPv6Address("fd00::1")).isUniqueLocal)
        let mapped = try #require(IPv6Address("::ffff:192.0.2.1"))
        #expect(mapped.isIPv4Mapped && mapped.asIPv4 == IPv4Address("192.0.2.1"))
        let compatible = try #require(IPv6Address("::192.0.2.1"))
        #expect(compatible.isIPv4Compatabile && compatible.asIPv4 == IPv4Address("192.0.2.1"))
        let through6to4 = try #require(IPv6Address("2002:c000:201::1"))
        #expect(through6to4.is6to4 && through6to4.asIPv4 == nil)
        #expect(IPv6Address("2001:db8::1")?.asIPv4 == nil)
    }

    @Test(
        "A multicast address has a scope",
        arguments: [
            ("ff01::1", .nodeLocal), ("ff02::1", .linkLocal), ("ff05::1", .siteLocal),
            ("ff08::1", .organizationLocal), ("ff0e::1", .global), ("ff03::1", nil), ("2001:db8::1", nil),
        ] as [(String, IPv6Address.Scope?)])
    func scope(text: String, scope: IPv6Address.Scope?) {
        #expect(IPv6Address(text)?.multicastScope == scope)
    }

    @Test("A host is an address if it can be one")
    func hosts() throws {
        #expect(NWEndpoint.Host("192.0.2.1") == .ipv4(try #require(IPv4Address("192.0.2.1"))))
        #expect(NWEndpoint.Host("2001:db8::1") == .ipv6(try #require(IPv6Address("2001:db8::1"))))
        #expect(NWEndpoint.Host("::ffff:192.0.2.1") == .ipv4(try #require(IPv4Address("192.0.2.1"))))
        #expect(NWEndpoint.Host("example.com") == .name("example.com", nil))
        let literal: NWEndpoint.Host = "example.com%lo"
        #expect(literal.interface?.name == "lo" && literal.debugDescription == "example.com%lo")
        #expect(NWEndpoint.Host("100%").debugDescription == "100%")
        #expect(IPv4Address("192.0.2.1%lo\0") == nil)
        #expect(NWEndpoint.Host("example.com%lo\0") == .name("example.com%lo\0", nil))
    }

    @Test("A port is a number or the name of a service")
    func ports() {
        #expect(NWEndpoint.Port("443") == .https && NWEndpoint.Port("http") == .http)
        #expect(NWEndpoint.Port("no-such-service") == nil && NWEndpoint.Port("") == nil)
        #expect(NWEndpoint.Port("65536") == nil && NWEndpoint.Port("-1") == nil)
        // 2 ** 63 + 80, of which getaddrinfo would take the lower 16 bits, and so on.
        for text in ["9223372036854775888", "9223372036854775808", " 99999", " 80", "\t80", "80 ", "http\0"] {
            #expect(NWEndpoint.Port(text) == nil)
        }
        #expect(NWEndpoint.Port(rawValue: 8080)?.rawValue == 8080)
        let literal: NWEndpoint.Port = 8080
        #expect(literal.debugDescription == "8080")
        let ports: [NWEndpoint.Port] = [.any, .ssh, .smtp, .http, .pop, .imap, .https, .imaps, .socks]
        #expect(ports.map(\.rawValue) == [0, 22, 25, 80, 110, 143, 443, 993, 1080])
    }

    @Test("An endpoint prints its host and port")
    func text() throws {
        #expect(NWEndpoint.hostPort(host: "192.0.2.1", port: 80).debugDescription == "192.0.2.1:80")
        #expect(NWEndpoint.hostPort(host: "2001:db8::1", port: 80).debugDescription == "2001:db8::1.80")
        #expect(NWEndpoint.hostPort(host: "example.com", port: .https).debugDescription == "example.com:443")
        #expect(NWEndpoint.hostPort(host: "fe80::1%lo", port: 1).interface?.name == "lo")
        #expect(NWEndpoint.unix(path: "/run/x").debugDescription == "/run/x")
        let url = try #require(URL(string: "https://example.com/"))
        #expect(NWEndpoint.url(url).debugDescription == "https://example.com/")
        let service = NWEndpoint.service(name: "printer", type: "_ipp._tcp", domain: "local", interface: nil)
        #expect(service.debugDescription == "printer._ipp._tcplocal" && service.interface == nil)
    }
}
