// SPDX-License-Identifier: MIT

// Apple's socket addresses have a length field, and sources for Apple's platforms set it. Linux has no such field. Here
// the length follows from the family, and a value that is set is ignored. On Apple's platforms, a family is one byte: the
// initializers take any integer. This file imports only the C library, because
// the structures must be its own.

#if os(Linux)
#if canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

extension sockaddr {
    /// The length in bytes of an address of this family. 0 if the family is not IPv4 or IPv6. Setting it does nothing.
    public var sa_len: UInt8 {
        get { length(of: sa_family) }
        set {}
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Makes an address as on Apple's platforms. The length is ignored: Linux's structure has none.
    public init(
        sa_len: UInt8, sa_family: some BinaryInteger,
        sa_data: (
            CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar
        )
    ) {
        self.init(sa_family: sa_family_t(sa_family), sa_data: sa_data)
    }
}

extension sockaddr_in {
    /// The length of the structure in bytes. Setting it does nothing.
    public var sin_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in>.size) }
        set {}
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Makes an address as on Apple's platforms. The length is ignored: Linux's structure has none.
    public init(
        sin_len: UInt8, sin_family: some BinaryInteger, sin_port: in_port_t, sin_addr: in_addr,
        sin_zero: (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar)
    ) {
        self.init(
            sin_family: sa_family_t(sin_family), sin_port: sin_port, sin_addr: sin_addr,
            sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
    }
}

extension sockaddr_in6 {
    /// The length of the structure in bytes. Setting it does nothing.
    public var sin6_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in6>.size) }
        set {}
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Makes an address as on Apple's platforms. The length is ignored: Linux's structure has none.
    public init(
        sin6_len: UInt8, sin6_family: some BinaryInteger, sin6_port: in_port_t, sin6_flowinfo: UInt32,
        sin6_addr: in6_addr, sin6_scope_id: UInt32
    ) {
        self.init(
            sin6_family: sa_family_t(sin6_family), sin6_port: sin6_port, sin6_flowinfo: sin6_flowinfo,
            sin6_addr: sin6_addr, sin6_scope_id: sin6_scope_id)
    }
}

extension sockaddr_storage {
    /// The length in bytes of an address of this family. 0 if the family is not IPv4 or IPv6. Setting it does nothing.
    public var ss_len: UInt8 {
        get { length(of: ss_family) }
        set {}
    }
}

/// 169.254.0.0, the address of the local network, in the byte order of the machine.
public let IN_LINKLOCALNETNUM: UInt32 = 0xA9FE_0000

private func length(of family: sa_family_t) -> UInt8 {
    switch Int32(family) {
    case AF_INET: UInt8(MemoryLayout<sockaddr_in>.size)
    case AF_INET6: UInt8(MemoryLayout<sockaddr_in6>.size)
    default: 0
    }
}
#endif
