// SPDX-License-Identifier: MIT

import Glibc

/// An IPv4 or IPv6 address as the system holds it.
struct Address: Equatable {
    private(set) var storage: sockaddr_storage

    /// An address literal: IPv4 as inet_aton(3) reads it, IPv6 with an optional %zone. Never asks a name server.
    init?(_ text: String) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        storage = sockaddr_storage()
        memcpy(&storage, list.pointee.ai_addr, Int(list.pointee.ai_addrlen))
    }

    /// nil for "there is none".
    init?(_ storage: sockaddr_storage) {
        guard storage.ss_family != AF_UNSPEC else { return nil }
        self.storage = storage
    }

    /// 0.0.0.0 or ::, which stand for the default path, in the family of `other`.
    static func unspecified(like other: Address?) -> Address? {
        Address(other?.family == AF_INET6 ? "::" : "0.0.0.0")
    }

    /// Whether a text is a literal also where its zone is not (yet) an interface, and no `Address` can be made of it.
    static func isLiteral(_ text: String) -> Bool {
        let address = text.prefix { $0 != "%" }
        var ignored = in6_addr()
        return Address(text) != nil || address.count < text.count && inet_pton(AF_INET6, String(address), &ignored) == 1
    }

    var family: Int32 { Int32(storage.ss_family) }

    var text: String {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let length = family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        let status = Address.withPointer(to: self) {
            getnameinfo($0, socklen_t(length), &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        }
        return status == 0 ? string(from: host) : ""
    }

    static func withPointer<Result>(to address: Address?, _ body: (UnsafePointer<sockaddr>?) -> Result) -> Result {
        guard let address else { return body(nil) }
        return withUnsafePointer(to: address.storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    static func == (one: Address, other: Address) -> Bool {
        withUnsafeBytes(of: one.storage) { one in
            withUnsafeBytes(of: other.storage) { one.elementsEqual($0) }
        }
    }
}

/// The text of a C buffer up to its NUL.
func string(from buffer: some Sequence<CChar>) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// The text that a call writes by snprintf's rule.
func string(writtenBy write: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> String {
    var capacity = 256
    while true {
        var buffer = [CChar](repeating: 0, count: capacity)
        let length = write(&buffer, capacity)
        if length < capacity { return string(from: buffer) }
        capacity = length + 1
    }
}
