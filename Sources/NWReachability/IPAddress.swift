// SPDX-License-Identifier: MIT

#if os(Linux)
public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An IPv4 or IPv6 address.
public protocol IPAddress: Sendable {
    /// The bytes in network order.
    var rawValue: Data { get }

    /// Makes an address from its bytes in network order. nil: the number of bytes is wrong.
    init?(_ rawValue: Data, _ interface: NWInterface?)

    /// Parses an address as getaddrinfo(3) does without a look-up, with an optional `%interface`. Such an interface equals
    /// the one that a path lists, so its type is queried.
    init?(_ string: String)

    /// The interface to which the address belongs.
    var interface: NWInterface? { get }

    /// Whether this is the address of the machine itself, `loopback`.
    var isLoopback: Bool { get }
    /// Whether the address is valid on one link only.
    var isLinkLocal: Bool { get }
    /// Whether this is the address of a multicast group.
    var isMulticast: Bool { get }
}

/// The bytes of an address, without heap memory: each change of the network makes some.
struct AddressBytes: Hashable, Sendable {
    let isIPv6: Bool
    /// In network order. For IPv4, the first word has the address and zeros.
    private let first: UInt64
    private let second: UInt64

    /// From 4 or 16 bytes.
    init(loading bytes: UnsafeRawBufferPointer) {
        isIPv6 = bytes.count == 16
        if isIPv6 {
            first = bytes.loadUnaligned(as: UInt64.self)
            second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        } else {
            first = UInt64(bytes.loadUnaligned(as: UInt32.self))
            second = 0
        }
    }

    init(_ bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { AddressBytes(loading: $0) }
    }

    init?(_ data: Data, count: Int) {
        guard data.count == count else { return nil }
        self.init([UInt8](data))
    }

    /// fe80::/10.
    var isLinkLocalIPv6: Bool { isIPv6 && UInt64(bigEndian: first) >> 54 == 0xfe80 >> 6 }

    var bytes: [UInt8] {
        withUnsafeBytes(of: (first, second)) { [UInt8]($0.prefix(isIPv6 ? 16 : 4)) }
    }

    func description(_ interface: NWInterface?) -> String {
        let family = isIPv6 ? AF_INET6 : AF_INET
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) } ?? ""
        }
        return interface.map { "\(text)%\($0.name)" } ?? text
    }
}

/// An address as getaddrinfo(3) parses it without a look-up, and its interface.
struct ParsedAddress {
    let bytes: AddressBytes
    let interface: NWInterface?

    init?(_ text: String, family: Int32) {
        guard !text.utf8.contains(0) else { return nil }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        guard let address = list.pointee.ai_addr else { return nil }
        let raw = UnsafeRawPointer(address)
        if family == AF_INET {
            bytes = withUnsafeBytes(of: raw.load(as: sockaddr_in.self).sin_addr) { AddressBytes(loading: $0) }
            interface = nil
        } else {
            let address = raw.load(as: sockaddr_in6.self)
            bytes = withUnsafeBytes(of: address.sin6_addr) { AddressBytes(loading: $0) }
            interface = NWInterface(index: address.sin6_scope_id)
        }
    }
}

/// Splits "text%interface" at the last %, if there is an interface of that name. nil: a NUL, after which C ignores text.
func splitInterface(_ string: String) -> (text: String, interface: NWInterface?)? {
    guard !string.utf8.contains(0) else { return nil }
    guard let mark = string.lastIndex(of: "%"),
        let interface = NWInterface(named: String(string[string.index(after: mark)...]))
    else { return (string, nil) }
    return (String(string[..<mark]), interface)
}

extension NWInterface {
    /// The interface with this index in the namespace of the calling thread, or nil. Queries the kernel for its type.
    init?(index: UInt32) {
        guard index != 0 else { return nil }
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(index, buffer.baseAddress).map { String(cString: $0) }
        }
        guard let name else { return nil }
        self.init(type: InterfaceType(ofInterface: index), name: NameBytes(name), index: index)
    }

    /// The interface with this name in the namespace of the calling thread, or nil. Queries the kernel for its type.
    init?(named name: String) {
        // C ignores text after a NUL.
        guard !name.utf8.contains(0) else { return nil }
        let index = if_nametoindex(name)
        guard index != 0 else { return nil }
        self.init(type: InterfaceType(ofInterface: index), name: NameBytes(name), index: index)
    }
}

/// An IPv4 address, perhaps with an interface.
public struct IPv4Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// 0.0.0.0.
    public static let any = IPv4Address(0, 0, 0, 0)
    /// 255.255.255.255.
    public static let broadcast = IPv4Address(255, 255, 255, 255)
    /// 127.0.0.1.
    public static let loopback = IPv4Address(127, 0, 0, 1)
    /// 224.0.0.1, the group of all hosts.
    public static let allHostsGroup = IPv4Address(224, 0, 0, 1)
    /// 224.0.0.2, the group of all routers.
    public static let allRoutersGroup = IPv4Address(224, 0, 0, 2)
    /// 224.0.0.22, the group for reports of IGMP version 3.
    public static let allReportsGroup = IPv4Address(224, 0, 0, 22)
    /// 224.0.0.251, the group of multicast DNS.
    public static let mdnsGroup = IPv4Address(224, 0, 0, 251)

    let address: AddressBytes
    /// The interface to which the address belongs; nil if none was given.
    public let interface: NWInterface?

    /// Makes an address from 4 bytes in network order. nil: the number of bytes is wrong.
    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard let address = AddressBytes(rawValue, count: 4) else { return nil }
        self.init(address, interface)
    }

    /// An interface may follow: "192.0.2.1%eth0".
    public init?(_ string: String) {
        guard let (text, interface) = splitInterface(string), let parsed = ParsedAddress(text, family: AF_INET)
        else { return nil }
        self.init(parsed.bytes, interface)
    }

    init(_ address: AddressBytes, _ interface: NWInterface?) {
        self.address = address
        self.interface = interface
    }

    private init(_ bytes: UInt8...) {
        self.init(AddressBytes(bytes), nil)
    }

    /// The 4 bytes in network order.
    public var rawValue: Data { Data(bytes) }
    /// Whether this is 127.0.0.1 without an interface, as on Apple's platforms. Other addresses of 127.0.0.0/8 are not.
    public var isLoopback: Bool { self == .loopback }
    /// Whether this is an address of 169.254.0.0/16.
    public var isLinkLocal: Bool { bytes[0] == 169 && bytes[1] == 254 }
    /// Whether this is an address of 224.0.0.0/4.
    public var isMulticast: Bool { bytes[0] & 0xf0 == 0xe0 }
    /// The address as text, with `%` and the interface's name if there is one.
    public var debugDescription: String { address.description(interface) }

    private var bytes: [UInt8] { address.bytes }
}

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
