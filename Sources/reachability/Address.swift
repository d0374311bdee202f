// SPDX-License-Identifier: MIT

import Glibc
import NetworkReachability

typealias Address = ReachabilityPath.Address

extension Address {
    /// An address literal as getaddrinfo(3) reads it: the name of a zone counts only in link-local addresses, and `%0`
    /// means no zone. Never queries a name server.
    init?(numeric text: String) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        let address = String(text.prefix { $0 != "%" })
        let zone = list.pointee.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
            list.pointee.ai_family == AF_INET6 ? $0.pointee.sin6_scope_id : 0
        }
        self.init(zone == 0 ? address : "\(address)%\(zone)")
    }

    /// Whether a text is a literal, also when its zone is not an interface (yet) and no `Address` can be made of it.
    static func isLiteral(_ text: String) -> Bool {
        let address = text.prefix { $0 != "%" }
        return Address(numeric: text) != nil
            || address.count < text.count && Address(String(address))?.isIPv6 == true
    }
}
