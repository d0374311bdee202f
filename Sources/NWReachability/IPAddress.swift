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

    /// Parses an address as getaddrinfo(3) does without a look-up, with an optional `%interface`. The type of such an
    /// interface is not known: it is `other`.
    init?(_ string: String)

    /// The interface to which the address belongs.
    var interface: NWInterface? { get }

    var isLoopback: Bool { get }
    var isLinkLocal: Bool { get }
    var isMulticast: Bool { get }
}

/// The bytes of an address, and its interface.
struct AddressBytes: Hashable, Sendable {
    let bytes: [UInt8]
    let interface: NWInterface?

    init(_ bytes: [UInt8], _ interface: NWInterface? = nil) {
        self.bytes = bytes
        self.interface = interface
    }

    init?(_ data: Data, count: Int, _ interface: NWInterface?) {
        guard data.count == count else { return nil }
        self.init([UInt8](data), interface)
    }

    init?(parsing text: String, family: Int32) {
        guard !text.utf8.contains(0) else { return nil }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_family = family
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        guard let address = list.pointee.ai_addr else { return nil }
        self.init(address)
    }

    /// nil: no IP address.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(withUnsafeBytes(of: raw.load(as: sockaddr_in.self).sin_addr) { [UInt8]($0) })
        case AF_INET6:
            let address = raw.load(as: sockaddr_in6.self)
            self.init(
                withUnsafeBytes(of: address.sin6_addr) { [UInt8]($0) }, NWInterface(index: address.sin6_scope_id))
        default:
            return nil
        }
    }

    var description: String {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) } ?? ""
        }
        return interface.map { "\(text)%\($0.name)" } ?? text
    }
}

extension NWInterface {
    /// The interface with this index, or nil. Its type is not known.
    init?(index: UInt32) {
        guard index != 0 else { return nil }
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(index, buffer.baseAddress).map { String(cString: $0) }
        }
        guard let name else { return nil }
        self.init(type: .other, name: name, index: Int(index))
    }

    /// The interface with this name, or nil. Its type is not known.
    init?(named name: String) {
        let index = if_nametoindex(name)
        guard index != 0 else { return nil }
        self.init(type: .other, name: name, index: Int(index))
    }
}
#endif
