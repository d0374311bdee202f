// SPDX-License-Identifier: MIT

#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Why a text is not the name of a host: mistakes that would otherwise end as a name that no server knows.
package enum HostNameFlaw: Error {
    case empty
    case tooLong
    case nul
    case scheme
    case slash
    case whiteSpace
    /// The C library cannot convert the international name to ASCII, or can convert none: musl, or no libidn2.
    case notConvertible

    /// English text.
    package var text: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong: "it has more than \(HostNameFlaw.maximumLength) bytes"
        case .nul: "it contains a NUL character"
        case .scheme: "it contains a scheme"
        case .slash: "it contains a slash"
        case .whiteSpace: "it contains white space"
        case .notConvertible: "it cannot be converted to an international name"
        }
    }

    /// In bytes of UTF-8: what the C library takes.
    package static let maximumLength = 1024

    /// The first flaw, in the order of the cases; nil: the name can be looked up.
    package init?(of host: String) {
        if host.isEmpty {
            self = .empty
        } else if host.utf8.count > HostNameFlaw.maximumLength {
            self = .tooLong
        } else if host.utf8.contains(0) {
            self = .nul
        } else if host.utf8.contains("://".utf8) {
            self = .scheme
        } else if host.utf8.contains(UInt8(ascii: "/")) {
            self = .slash
        } else if host.unicodeScalars.contains(where: \.properties.isWhitespace) {
            self = .whiteSpace
        } else if !HostNameFlaw.isConvertible(host) {
            self = .notConvertible
        } else {
            return nil
        }
    }

    /// Converts the name as its look-up does, in a UTF-8 locale of this thread. Sends nothing: only a numeric address
    /// would be a result.
    private static func isConvertible(_ host: String) -> Bool {
        if host.utf8.allSatisfy({ $0 < 0x80 }) || isAddressWithZone(host) { return true }
        guard let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else { return false }
        let before = uselocale(locale)
        defer {
            _ = uselocale(before)
            freelocale(locale)
        }
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | internationalName
        var list: UnsafeMutablePointer<addrinfo>?
        let error = getaddrinfo(host, nil, &hints, &list)
        if error == 0 { freeaddrinfo(list) }
        return error == 0 || error == EAI_NONAME
    }

    /// Whether the text is an IPv6 address and the name of an interface, which can have any bytes. It is not looked up.
    private static func isAddressWithZone(_ host: String) -> Bool {
        guard let zone = host.utf8.firstIndex(of: UInt8(ascii: "%")) else { return false }
        var address = in6_addr()
        return inet_pton(AF_INET6, String(host[..<zone]), &address) == 1
    }

    /// AI_IDN, which musl does not have, and refuses.
    private static let internationalName: Int32 = 0x40
}
#endif
