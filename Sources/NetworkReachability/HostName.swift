// SPDX-License-Identifier: MIT

#if os(Linux)
/// What is told of a text before it is taken for a host: mistakes that would otherwise end as a name that nobody finds.
///
/// The managers look for the same, in the same order: ReachabilitySupport's `HostFlaw`, which a test compares.
enum HostName {
    /// Bytes, as the C library has it.
    private static let limit = 1024

    static func validate(_ host: String) throws(ReachabilityError) {
        if host.isEmpty { throw ReachabilityError(.emptyHost) }
        if host.utf8.count > limit { throw ReachabilityError(.hostTooLong) }
        if host.utf8.contains(0) { throw ReachabilityError(.hostHasNUL) }
        if host.utf8.contains("://".utf8) { throw ReachabilityError(.hostHasScheme) }
        if host.utf8.contains(UInt8(ascii: "/")) { throw ReachabilityError(.hostHasSlash) }
        if host.unicodeScalars.contains(where: \.properties.isWhitespace) {
            throw ReachabilityError(.hostHasWhiteSpace)
        }
    }
}
#endif
