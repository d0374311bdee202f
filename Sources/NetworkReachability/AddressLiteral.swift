// SPDX-License-Identifier: MIT

#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What an address literal says. The C library reads literals by the same rules, and follows a zone's name itself; here
/// they are told from names, and turned into addresses where an address is needed.
struct AddressLiteral {
    enum Address {
        case ipv4(in_addr)
        case ipv6(in6_addr)
    }

    let address: Address
    /// What stands behind "%": an interface's name, or its number.
    let zone: String?

    init?(_ text: String) {
        // inet_aton(3) passes over what follows white space, and C over what follows a NUL.
        guard !text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: " ") || 9...13 ~= $0 }) else { return nil }
        var ipv4 = in_addr()
        if inet_aton(text, &ipv4) != 0 {
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

    private static func isZone(_ text: String) -> Bool {
        if text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) {
            return text.utf8.count <= 10 && UInt32(text) != nil
        }
        return isInterfaceName(text)
    }
}

/// Whether the kernel would let an interface have this name.
func isInterfaceName(_ text: String) -> Bool {
    1...15 ~= text.utf8.count && !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
}
#endif
