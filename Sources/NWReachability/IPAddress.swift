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
#endif
