// SPDX-License-Identifier: MIT

#if os(Linux)
public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

public struct IPv6Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// The scopes of multicast addresses, with their values in the address.
    public enum Scope: UInt8, Sendable {
        case nodeLocal = 1
        case linkLocal = 2
        case siteLocal = 5
        case organizationLocal = 8
        case global = 14
    }

    public static let any = IPv6Address([])
    /// IPv6 has no broadcast. As on Apple's platforms, this is `any`.
    public static let broadcast = IPv6Address([])
    public static let loopback = IPv6Address([], 1)
    public static let nodeLocalNodes = IPv6Address([0xff, 0x01], 1)
    public static let linkLocalNodes = IPv6Address([0xff, 0x02], 1)
    public static let linkLocalRouters = IPv6Address([0xff, 0x02], 2)

    let address: AddressBytes
    public let interface: NWInterface?

    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard let address = AddressBytes(rawValue, count: 16) else { return nil }
        self.init(address, interface)
    }

    /// Parses an address as getaddrinfo(3) does without a look-up. An interface may follow: "fe80::1%eth0", "::1%lo".
    public init?(_ string: String) {
        guard let (text, interface) = splitInterface(string),
            let parsed = ParsedAddress(text, family: AF_INET6)
        else { return nil }
        self.init(parsed.bytes, interface ?? parsed.interface)
    }

    init(_ address: AddressBytes, _ interface: NWInterface?) {
        self.address = address
        self.interface = interface
    }

    /// The first bytes and the last one; the others are 0.
    private init(_ first: [UInt8], _ last: UInt8 = 0) {
        self.init(AddressBytes(first + [UInt8](repeating: 0, count: 15 - first.count) + [last]), nil)
    }

    public var rawValue: Data { Data(bytes) }
    public var debugDescription: String { address.description(interface) }

    public var isAny: Bool { bytes.allSatisfy { $0 == 0 } }
    public var isLoopback: Bool { bytes == IPv6Address.loopback.address.bytes }
    public var isLinkLocal: Bool { address.isLinkLocalIPv6 }
    public var isMulticast: Bool { bytes[0] == 0xff }
    /// fc00::/7.
    public var isUniqueLocal: Bool { bytes[0] & 0xfe == 0xfc }
    /// 2002::/16.
    public var is6to4: Bool { bytes[0] == 0x20 && bytes[1] == 0x02 }
    /// ::ffff:a.b.c.d.
    public var isIPv4Mapped: Bool { bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff }
    /// ::a.b.c.d, but neither :: nor ::1. The name has Apple's spelling.
    public var isIPv4Compatabile: Bool { bytes[..<12].allSatisfy { $0 == 0 } && !isAny && !isLoopback }

    /// The IPv4 address in an IPv4-mapped or IPv4-compatible address. nil: neither, as on Apple's platforms for 6to4.
    public var asIPv4: IPv4Address? {
        guard isIPv4Mapped || isIPv4Compatabile else { return nil }
        return IPv4Address(AddressBytes([UInt8](bytes[12...])), interface)
    }

    /// nil: no multicast address, or another scope.
    public var multicastScope: Scope? { isMulticast ? Scope(rawValue: bytes[1] & 0x0f) : nil }

    private var bytes: [UInt8] { address.bytes }
}
#endif
