// SPDX-License-Identifier: MIT

#if os(Linux)
#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#endif

extension ReachabilityPath {
    /// An IPv4 or IPv6 address.
    public struct Address: Sendable, Hashable {
        /// In network order. An IPv4 address is in the upper four bytes of the first half.
        private var halves: (UInt64, UInt64)
        /// Whether this is an IPv6 address.
        public let isIPv6: Bool
        /// The index of the interface of a link-local IPv6 address. 0: none.
        public let scopeID: UInt32

        /// The address in network order: 4 or 16 bytes.
        public var bytes: [UInt8] {
            let all = withUnsafeBytes(of: (halves.0.bigEndian, halves.1.bigEndian), Array.init)
            return isIPv6 ? all : Array(all.prefix(4))
        }

        /// Whether two addresses are the same, with their interface.
        public static func == (one: Address, other: Address) -> Bool {
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
}

extension ReachabilityPath.Address {
    /// Parses an address literal. IPv4 is parsed as in inet_aton(3). IPv6 may have a `%zone`: the number of an
    /// interface, or the name of an interface that exists now. nil: the text is not such a literal.
    public init?(_ literal: String) {
        guard let literal = AddressLiteral(literal) else { return nil }
        switch literal.address {
        case .ipv4(var address): self = withUnsafeBytes(of: &address) { Self($0) }
        case .ipv6(var address):
            let scopeID = literal.zone.map { literal.zoneNumber ?? if_nametoindex($0) }
            guard scopeID != 0 else { return nil }
            self = withUnsafeBytes(of: &address) { Self($0, scopeID: scopeID ?? 0) }
        }
    }

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

    fileprivate func storage(port: UInt16) -> sockaddr_storage {
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
    _ address: ReachabilityPath.Address?, port: UInt16 = 0, _ body: (UnsafePointer<sockaddr>?) -> Result
) -> Result {
    guard let address else { return body(nil) }
    return withUnsafePointer(to: address.storage(port: port)) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
}

extension ReachabilityPath.Address: CustomStringConvertible {
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
#endif
