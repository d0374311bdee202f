// SPDX-License-Identifier: MIT

#if os(Linux)
public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An IPv6 address, perhaps with an interface.
public struct IPv6Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// The scopes of multicast addresses, with their values in the address.
    public enum Scope: UInt8, Sendable {
        /// The machine itself.
        case nodeLocal = 1
        /// One link.
        case linkLocal = 2
        /// One site.
        case siteLocal = 5
        /// All sites of an organization.
        case organizationLocal = 8
        /// Everywhere.
        case global = 14
    }

    /// ::, the unspecified address.
    public static let any = IPv6Address([])
    /// IPv6 has no broadcast. As on Apple's platforms, this is `any`.
    public static let broadcast = IPv6Address([])
    /// ::1.
    public static let loopback = IPv6Address([], 1)
    /// ff01::1, the group of all nodes of this machine.
    public static let nodeLocalNodes = IPv6Address([0xff, 0x01], 1)
    /// ff02::1, the group of all nodes of a link.
    public static let linkLocalNodes = IPv6Address([0xff, 0x02], 1)
    /// ff02::2, the group of all routers of a link.
    public static let linkLocalRouters = IPv6Address([0xff, 0x02], 2)

    let address: AddressBytes
    /// The interface to which the address belongs; nil if none was given.
    public let interface: NWInterface?

    /// Makes an address from 16 bytes in network order. nil: the number of bytes is wrong.
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

    /// The 16 bytes in network order.
    public var rawValue: Data { Data(bytes) }
    /// The address as text, with `%` and the interface's name if there is one.
    public var debugDescription: String { address.description(interface) }

    /// Whether this is ::.
    public var isAny: Bool { bytes.allSatisfy { $0 == 0 } }
    /// Whether this is ::1.
    public var isLoopback: Bool { bytes == IPv6Address.loopback.address.bytes }
    /// Whether this is an address of fe80::/10.
    public var isLinkLocal: Bool { address.isLinkLocalIPv6 }
    /// Whether this is an address of ff00::/8.
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
