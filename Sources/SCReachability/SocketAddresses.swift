// SPDX-License-Identifier: MIT

// Apple's socket addresses carry their length, and sources written there set it. Linux's do not: it follows from the
// family, and what is set is dropped. This file imports nothing else: the structures must be the C library's.

#if os(Linux)
#if canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#endif

extension sockaddr {
    /// The length in bytes that goes with the family, 0 for one that is not IPv4 or IPv6; setting it does nothing.
    public var sa_len: UInt8 {
        get { length(of: sa_family) }
        set {}
    }
}

extension sockaddr_in {
    /// The structure's length in bytes; setting it does nothing.
    public var sin_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in>.size) }
        set {}
    }
}

extension sockaddr_in6 {
    /// The structure's length in bytes; setting it does nothing.
    public var sin6_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in6>.size) }
        set {}
    }
}

extension sockaddr_storage {
    /// The length in bytes that goes with the family, 0 for one that is not IPv4 or IPv6; setting it does nothing.
    public var ss_len: UInt8 {
        get { length(of: ss_family) }
        set {}
    }
}

private func length(of family: sa_family_t) -> UInt8 {
    switch Int32(family) {
    case AF_INET: UInt8(MemoryLayout<sockaddr_in>.size)
    case AF_INET6: UInt8(MemoryLayout<sockaddr_in6>.size)
    default: 0
    }
}
#endif
