// SPDX-License-Identifier: MIT

#if os(Linux)
#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable {
    /// In network order. An IPv4 address is in the upper four bytes of the first half.
    private var halves: (UInt64, UInt64)
    /// Whether this is an IPv6 address.
    public let isIPv6: Bool
    /// The index of the interface of a link-local IPv6 address. 0: none.
    public let scopeID: UInt32

    /// Makes an address from 4 or 16 bytes in network order. nil: another number of bytes, or IPv4 with a scope.
    public init?(bytes: some Collection<UInt8>, scopeID: UInt32 = 0) {
        guard bytes.count == 16 || bytes.count == 4 && scopeID == 0 else { return nil }
        self = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { buffer in
            buffer.copyBytes(from: bytes)
            return Self(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]), scopeID: scopeID)
        }
    }

    /// The address in network order: 4 or 16 bytes.
    public var bytes: [UInt8] {
        let all = withUnsafeBytes(of: (halves.0.bigEndian, halves.1.bigEndian), Array.init)
        return isIPv6 ? all : Array(all.prefix(4))
    }

    /// Whether two addresses are the same, with their interface.
    public static func == (one: IPAddress, other: IPAddress) -> Bool {
        one.halves == other.halves && one.isIPv6 == other.isIPv6 && one.scopeID == other.scopeID
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(halves.0)
        hasher.combine(halves.1)
        hasher.combine(scopeID)
    }

    private init(_ bytes: UnsafeRawBufferPointer, scopeID: UInt32 = 0) {
        var halves: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &halves) { $0.copyMemory(from: bytes) }
        self.halves = (UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
        isIPv6 = bytes.count == 16
        self.scopeID = scopeID
    }
}

extension IPAddress: LosslessStringConvertible {
    /// Parses an address as inet_pton(3) does: IPv4 has four decimal numbers. IPv6 may have a `%zone`: the number of an
    /// interface, or the name of an interface that exists now. nil: the text is not an address.
    public init?(_ description: String) {
        guard let literal = AddressLiteral(description) else { return nil }
        switch literal.address {
        case .ipv4(var address): self = withUnsafeBytes(of: &address) { Self($0) }
        case .ipv6(var address):
            let scopeID = literal.zone.map { literal.zoneNumber ?? if_nametoindex($0) }
            guard scopeID != 0 else { return nil }
            self = withUnsafeBytes(of: &address) { Self($0, scopeID: scopeID ?? 0) }
        }
    }

    /// "192.0.2.1", "2001:db8::1" or "fe80::1%eth0". If the thread's network namespace has no such interface, the zone
    /// is its number: "fe80::1%7".
    public var description: String {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            bytes.withUnsafeBytes { bytes in
                inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes.baseAddress, buffer.baseAddress, socklen_t(buffer.count))
                    .map { String(cString: $0) } ?? ""
            }
        }
        return scopeID == 0 ? text : "\(text)%\(interfaceName(of: scopeID) ?? "\(scopeID)")"
    }
}

private func interfaceName(of index: UInt32) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
        if_indextoname(index, buffer.baseAddress).map { String(cString: $0) }
    }
}

extension IPAddress {
    package init?(_ storage: sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            self = withUnsafeBytes(of: storage) {
                withUnsafeBytes(of: $0.load(as: sockaddr_in.self).sin_addr) { Self($0) }
            }
        case AF_INET6:
            self = withUnsafeBytes(of: storage) {
                let address = $0.load(as: sockaddr_in6.self)
                return withUnsafeBytes(of: address.sin6_addr) { Self($0, scopeID: address.sin6_scope_id) }
            }
        default: return nil
        }
    }

    func storage(port: UInt16 = 0) -> sockaddr_storage {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { storage in
            if isIPv6 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_scope_id = scopeID
                address.sin6_port = port.bigEndian
                withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
                storage.storeBytes(of: address, as: sockaddr_in6.self)
            } else {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
                storage.storeBytes(of: address, as: sockaddr_in.self)
            }
        }
        return storage
    }
}

func withSocketAddress<Result>(
    _ address: IPAddress?, port: UInt16 = 0, _ body: (UnsafePointer<sockaddr>?) -> Result
) -> Result {
    guard let address else { return body(nil) }
    return withUnsafePointer(to: address.storage(port: port)) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
}

/// The parts of an address literal.
///
/// The C library parses literals by the same rules, and resolves a zone's name itself. This type distinguishes literals
/// from host names, and converts them to addresses.
struct AddressLiteral {
    enum Address {
        case ipv4(in_addr)
        case ipv6(in6_addr)
    }

    let address: Address
    /// The text after "%": an interface's name, or its number.
    let zone: String?

    init?(_ text: String) {
        // C ignores text after a NUL, and no interface has white space in its name.
        guard !text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: " ") || 9...13 ~= $0 }) else { return nil }
        var ipv4 = in_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            (address, zone) = (.ipv4(ipv4), nil)
            return
        }
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        zone = parts.count > 1 ? parts[1] : nil
        if let zone, !AddressLiteral.isZone(zone) { return nil }
        var ipv6 = in6_addr()
        guard inet_pton(AF_INET6, parts[0], &ipv6) == 1 else { return nil }
        address = .ipv6(ipv6)
    }

    /// The zone if it is a number. "+1" is the name of an interface.
    var zoneNumber: UInt32? {
        guard let zone, AddressLiteral.isNumber(zone) else { return nil }
        return UInt32(zone)
    }

    private static func isZone(_ text: String) -> Bool {
        isNumber(text) ? text.utf8.count <= 10 && UInt32(text) != nil : isInterfaceName(text)
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}
#endif
