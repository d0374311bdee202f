// SPDX-License-Identifier: MIT

#if os(Linux)
import ReachabilityInternals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

enum HostName {
    static func validate(_ host: String) throws(ReachabilityError) {
        switch HostNameFlaw(of: host) {
        case .empty: throw ReachabilityError(.emptyHost)
        case .tooLong: throw ReachabilityError(.hostTooLong)
        case .nul: throw ReachabilityError(.hostHasNUL)
        case .scheme: throw ReachabilityError(.hostHasScheme)
        case .slash: throw ReachabilityError(.hostHasSlash)
        case .whiteSpace: throw ReachabilityError(.hostHasWhiteSpace)
        case .notConvertible: throw ReachabilityError(.hostNotConvertible)
        case nil: return
        }
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
        // inet_aton(3) ignores text after white space, and C ignores text after a NUL.
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

/// Whether the kernel accepts this name for an interface. An alternative one can be longer than 15 bytes.
func isInterfaceName(_ text: String) -> Bool {
    1...127 ~= text.utf8.count && !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
}
#endif
