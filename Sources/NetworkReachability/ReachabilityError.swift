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

        /// The text is neither the name of a host nor an address. ``ReachabilityError/detail`` says why: it is empty, too
        /// long, or a URL, it contains white space, or it cannot be converted to an international name (IDNA).
        public static let invalidHost = Code(text: "invalid host")
        /// The text is not an address, its zone does not exist, a pair has none or two families, or the address is not
        /// of the family in the options.
        public static let invalidAddress = Code(text: "invalid address")
        /// The interface's name is empty, contains "/" or NUL, contradicts the address's zone, or has more than 15 bytes
        /// and is no alternative name.
        public static let invalidInterface = Code(text: "invalid interface")
        /// A system call failed, or the C library refused the call. ``ReachabilityError/errno`` has the cause.
        public static let system = Code(text: "the system refused")
        /// The time-out of a wait passed.
        public static let timedOut = Code(text: "timed out")
        /// ``ReachabilityMonitor/cancel()`` was called during the wait.
        public static let cancelled = Code(text: "the monitor was cancelled")
    }

    /// What went wrong.
    public var code: Code
    /// More about it, for people: English text that may change. nil: there is nothing more to say.
    public var detail: String?
    /// The cause, if there is one: below 1000 a value of `errno`, otherwise a status of the C library, as `SCError()`
    /// returns it.
    public var errno: CInt?
    /// The last path of a wait. Its reason says why the target is not reachable. For a host's name, use this path
    /// instead of the monitor's own: after the wait, the monitor's own path is pending again, unless the monitor has
    /// other iterators or observers.
    public var path: ReachabilityPath?

    /// Makes an error.
    public init(_ code: Code, detail: String? = nil, errno: CInt? = nil, path: ReachabilityPath? = nil) {
        self.code = code
        self.detail = detail
        self.errno = errno
        self.path = path
    }
}

extension ReachabilityError {
    /// The C library's last failure on this thread.
    static var last: ReachabilityError {
        let detail = String(cString: SCErrorDetail())
        return ReachabilityError(.system, detail: detail.isEmpty ? nil : detail, errno: SCError())
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
        let causes = [errno.map { String(cString: SCErrorString($0)) }, detail, path?.description].compactMap { $0 }
        return ([code.text] + causes).joined(separator: ": ")
    }
}
#endif
