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
        if let flaw = HostNameFlaw(of: host) { throw ReachabilityError(.invalidHost, detail: flaw.text) }
        // The C library takes these, as inet_aton(3) does: "1" is 0.0.0.1, and "010.0.0.1" is 8.0.0.1.
        var address = in_addr()
        if inet_aton(host, &address) != 0, IPAddress(host) == nil {
            let usual = withUnsafeBytes(of: address) { IPAddress(bytes: $0).map(\.description) } ?? ""
            throw ReachabilityError(.invalidHost, detail: "it is an unusual form of \(usual)")
        }
    }
}

/// Whether the kernel accepts this name for an interface. An alternative one can be longer than 15 bytes.
func isInterfaceName(_ text: String) -> Bool {
    1...127 ~= text.utf8.count && !text.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
}
#endif
