// SPDX-License-Identifier: MIT

#if os(Linux)
public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One end of a connection, in the shape of Network.framework's. Here, only the gateways of a path are endpoints.
public enum NWEndpoint: Hashable, Sendable {
    /// A host and a port.
    case hostPort(host: Host, port: Port)
    /// A Bonjour service.
    case service(name: String, type: String, domain: String, interface: NWInterface?)
    /// A socket in the file system.
    case unix(path: String)
    /// A URL.
    case url(URL)

    /// The interface that the endpoint names.
    public var interface: NWInterface? {
        switch self {
        case .hostPort(let host, _): host.interface
        case .service(_, _, _, let interface): interface
        case .unix, .url: nil
        }
    }
}

extension NWEndpoint: CustomDebugStringConvertible {
    /// "host:port". For an IPv6 address: "address.port".
    public var debugDescription: String {
        switch self {
        case .hostPort(let host, let port):
            if case .ipv6 = host { return "\(host.debugDescription).\(port.debugDescription)" }
            return "\(host.debugDescription):\(port.debugDescription)"
        case .service(let name, let type, let domain, let interface):
            // As in Apple's published source: without a dot between type and domain.
            return "\(name).\(type)\(domain)" + (interface.map { "%\($0.name)" } ?? "")
        case .unix(let path): return path
        case .url(let url): return url.absoluteString
        }
    }
}

extension NWEndpoint {
    /// A host name or an address.
    public enum Host: Hashable, Sendable {
        /// A name, and the interface that the text named.
        case name(String, NWInterface?)
        /// An IPv4 address.
        case ipv4(IPv4Address)
        /// An IPv6 address.
        case ipv6(IPv6Address)

        /// An address if the text is one: `::ffff:192.0.2.1` is IPv4. Otherwise a name, with an optional `%interface`.
        public init(_ string: String) {
            if let address = IPv4Address(string) {
                self = .ipv4(address)
            } else if let address = IPv6Address(string) {
                self = if address.isIPv4Mapped, let ipv4 = address.asIPv4 { .ipv4(ipv4) } else { .ipv6(address) }
            } else if let mark = string.lastIndex(of: "%"),
                let interface = NWInterface(named: String(string[string.index(after: mark)...]))
            {
                self = .name(String(string[..<mark]), interface)
            } else {
                self = .name(string, nil)
            }
        }

        /// The interface that the host names.
        public var interface: NWInterface? {
            switch self {
            case .name(_, let interface): interface
            case .ipv4(let address): address.interface
            case .ipv6(let address): address.interface
            }
        }
    }

    /// A port of TCP or UDP.
    public struct Port: Hashable, RawRepresentable, Sendable {
        /// 0: any port.
        public static let any = Port(0)
        /// 22, the port of SSH.
        public static let ssh = Port(22)
        /// 25, the port of SMTP.
        public static let smtp = Port(25)
        /// 80, the port of HTTP.
        public static let http = Port(80)
        /// 110, the port of POP3.
        public static let pop = Port(110)
        /// 143, the port of IMAP.
        public static let imap = Port(143)
        /// 443, the port of HTTPS.
        public static let https = Port(443)
        /// 993, the port of IMAP over TLS.
        public static let imaps = Port(993)
        /// 1080, the port of SOCKS.
        public static let socks = Port(1080)

        /// The number of the port.
        public let rawValue: UInt16

        /// Never nil.
        public init?(rawValue: UInt16) {
            self.init(rawValue)
        }

        /// A number, or the name of a service in /etc/services.
        public init?(_ service: String) {
            if let number = UInt16(service) {
                self.init(number)
                return
            }
            // Without a letter it is no service. getaddrinfo(3) takes such a text as a number, and may drop its upper bits.
            guard service.utf8.contains(where: { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }),
                !service.utf8.contains(0), let number = findService(service)
            else { return nil }
            self.init(number)
        }

        private init(_ number: UInt16) {
            rawValue = number
        }
    }
}

extension NWEndpoint.Host: CustomDebugStringConvertible, ExpressibleByStringLiteral {
    /// An address or a name, as `init(_:)` makes it.
    public init(stringLiteral: String) {
        self.init(stringLiteral)
    }

    /// The host as text.
    public var debugDescription: String {
        switch self {
        case .name(let name, let interface): interface.map { "\(name)%\($0.name)" } ?? name
        case .ipv4(let address): address.debugDescription
        case .ipv6(let address): address.debugDescription
        }
    }
}

extension NWEndpoint.Port: CustomDebugStringConvertible, ExpressibleByIntegerLiteral {
    /// The port of this number.
    public init(integerLiteral: UInt16) {
        self.init(integerLiteral)
    }

    /// The number as text.
    public var debugDescription: String { "\(rawValue)" }
}

/// The port of a TCP or UDP service in /etc/services.
private func findService(_ name: String) -> UInt16? {
    var hints = addrinfo()
    // No look-up of a host, and no interface needs an address.
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_family = AF_INET
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo("127.0.0.1", name, &hints, &list) == 0, let list else { return nil }
    defer { freeaddrinfo(list) }
    guard let address = list.pointee.ai_addr else { return nil }
    return UInt16(bigEndian: UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port)
}
#endif
