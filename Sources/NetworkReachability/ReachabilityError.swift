// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

/// Why a monitor could not be made, or a wait ended.
///
/// Two errors are equal when their codes and errnos are.
public struct ReachabilityError: Error, Sendable {
    /// What went wrong. Later versions may know more codes than these: a `switch` over them needs a `default`.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        public static let emptyHost = Code(text: "the host is empty")
        /// "https://example.com" is a URL: give its host alone. "://" is looked for anywhere.
        public static let hostHasScheme = Code(text: "the host contains a scheme")
        public static let hostHasSlash = Code(text: "the host contains a slash")
        public static let hostHasWhiteSpace = Code(text: "the host contains white space")
        public static let hostHasNUL = Code(text: "the host contains a NUL character")
        /// More than 1024 bytes of UTF-8.
        public static let hostTooLong = Code(text: "the host is too long")
        /// The text is not an IPv4 or IPv6 literal; or it names a zone that has to exist and does not.
        public static let invalidAddress = Code(text: "not an IP address")
        /// Of a pair of addresses neither was given.
        public static let addressMissing = Code(text: "neither a local nor a remote address")
        /// Of a pair of addresses one is IPv4 and the other IPv6.
        public static let addressFamiliesDiffer = Code(text: "the addresses are of different families")
        /// An interface's name has 1 to 15 bytes, and it must not contradict the zone of an address.
        public static let invalidInterface = Code(text: "not the name of an interface")
        /// The system refused something; ``ReachabilityError/errno`` tells what.
        public static let system = Code(text: "the system refused")
        /// ``ReachabilityMonitor/waitUntilReachable(timeout:)`` waited for as long as it was allowed to.
        public static let timedOut = Code(text: "not reachable in time")
        /// ``ReachabilityMonitor/cancel()`` was called meanwhile.
        public static let monitorCancelled = Code(text: "the monitor was cancelled")
    }

    public var code: Code
    /// The system's error number, where there is one; from 1000, a status of the C library's, as `SCError()` gives it.
    public var errno: Int32?
    /// Where a wait ended, the path that was seen last: its reason says why the target is not reachable. When the wait is
    /// over, and nobody else listens, the monitor's own path knows no more of a name than that it is pending.
    public var path: ReachabilityPath?

    public init(_ code: Code, errno: Int32? = nil) {
        self.code = code
        self.errno = errno
    }

    init(_ code: Code, seen path: ReachabilityPath) {
        self.code = code
        self.path = path
    }
}

extension ReachabilityError: Hashable {
    public static func == (one: ReachabilityError, other: ReachabilityError) -> Bool {
        one.code == other.code && one.errno == other.errno
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(errno)
    }
}

extension ReachabilityError.Code: CustomStringConvertible {
    public var description: String { text }
}

extension ReachabilityError: CustomStringConvertible {
    public var description: String {
        if let errno { return "\(code): \(String(cString: SCErrorString(errno)))" }
        if let path { return "\(code): \(path.reason)" }
        return code.description
    }
}
#endif
