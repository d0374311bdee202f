// SPDX-License-Identifier: MIT

// Apple's socket addresses have a length field, and sources for Apple's platforms set it. Linux has no such field. Here
// the length follows from the family, and a value that is set is ignored. This file imports only the C library, because
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
}

extension sockaddr_in {
    /// The length of the structure in bytes. Setting it does nothing.
    public var sin_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in>.size) }
        set {}
    }
}

extension sockaddr_in6 {
    /// The length of the structure in bytes. Setting it does nothing.
    public var sin6_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in6>.size) }
        set {}
    }
}

extension sockaddr_storage {
    /// The length in bytes of an address of this family. 0 if the family is not IPv4 or IPv6. Setting it does nothing.
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
