// SPDX-License-Identifier: MIT

#if os(Linux)
/// Why a text is not the name of a host: mistakes that would otherwise end as a name that no server knows.
package enum HostNameFlaw: Error {
    case empty
    case tooLong
    case nul
    case scheme
    case slash
    case whiteSpace

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
        } else {
            return nil
        }
    }
}
#endif
