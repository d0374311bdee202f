// SPDX-License-Identifier: MIT

#if os(Linux)
import CReachability

/// Why a monitor could not be made, or why a wait ended.
///
/// Two errors are equal if their codes and errnos are equal.
public struct ReachabilityError: Error, Sendable {
    /// What went wrong. Later versions may have more codes, so a `switch` over them needs a `default`.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        /// The host is an empty text.
        public static let emptyHost = Code(text: "the host is empty")
        /// The text contains "://". "https://example.com" is a URL: pass only its host.
        public static let hostHasScheme = Code(text: "the host contains a scheme")
        /// The host contains a slash.
        public static let hostHasSlash = Code(text: "the host contains a slash")
        /// The host contains white space.
        public static let hostHasWhiteSpace = Code(text: "the host contains white space")
        /// The host contains a NUL character.
        public static let hostHasNUL = Code(text: "the host contains a NUL character")
        /// An international name that cannot be converted to ASCII (IDNA): it has characters that no name has, or the
        /// machine has no libidn2.
        public static let hostNotConvertible = Code(text: "the host cannot be converted to an international name")
        /// More than 1024 bytes of UTF-8.
        public static let hostTooLong = Code(text: "the host is too long")
        /// The text is not an IPv4 or IPv6 literal. Or the zone does not exist, and the call needs an existing one.
        public static let invalidAddress = Code(text: "not an IP address")
        /// Both addresses of a pair are nil.
        public static let addressMissing = Code(text: "neither a local nor a remote address")
        /// One address of a pair is IPv4, the other is IPv6.
        public static let addressFamiliesDiffer = Code(text: "the addresses are of different families")
        /// The interface's name is empty, contains "/" or NUL, contradicts the address's zone, or has more than 15 bytes
        /// and is no alternative name.
        public static let invalidInterface = Code(text: "not the name of an interface")
        /// A system call failed, or the C library refused the call. ``ReachabilityError/errno`` has the cause.
        public static let system = Code(text: "the system refused")
        /// The time-out of ``ReachabilityMonitor/waitUntilReachable(timeout:)`` passed.
        public static let timedOut = Code(text: "not reachable in time")
        /// ``ReachabilityMonitor/cancel()`` was called during the wait.
        public static let monitorCancelled = Code(text: "the monitor was cancelled")
    }

    /// What went wrong.
    public var code: Code
    /// The cause, if there is one: below 1000 a value of `errno`, otherwise a status of the C library, as `SCError()`
    /// returns it.
    public var errno: Int32?
    /// The last path of a wait. Its reason says why the target is not reachable. For a host's name, use this path
    /// instead of the monitor's own: after the wait, the monitor's own path is pending again, unless the monitor has
    /// other iterators or observers.
    public var path: ReachabilityPath?

    /// Makes an error.
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
    /// Whether two errors have the same code and errno.
    public static func == (one: ReachabilityError, other: ReachabilityError) -> Bool {
        one.code == other.code && one.errno == other.errno
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(errno)
    }
}

extension ReachabilityError.Code: CustomStringConvertible {
    /// English text.
    public var description: String { text }
}

extension ReachabilityError: CustomStringConvertible {
    /// English text.
    public var description: String {
        if let errno { return "\(code): \(String(cString: SCErrorString(errno)))" }
        if let path { return "\(code): \(path.reason)" }
        return code.description
    }
}
#endif
