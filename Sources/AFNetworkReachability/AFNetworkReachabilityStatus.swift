// SPDX-License-Identifier: MIT

#if os(Linux)
public import Foundation
internal import ReachabilityInternals
internal import SCReachability

/// Whether a packet can leave for the target, and over which type of interface. That does not mean that the target
/// responds.
public enum AFNetworkReachabilityStatus: Int, Sendable, Hashable {
    /// No status has been delivered yet.
    case unknown = -1
    /// The target is not reachable.
    case notReachable = 0
    /// Over a cellular interface.
    case reachableViaWWAN = 1
    /// Over any other interface: Wi-Fi, Ethernet, a tunnel.
    case reachableViaWiFi = 2

    package init(_ flags: SCNetworkReachabilityFlags) {
        self =
            if !flags.isUsable {
                .notReachable
            } else if flags.contains(.isWWAN) {
                .reachableViaWWAN
            } else {
                .reachableViaWiFi
            }
    }

    var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }
}

extension NSNotification.Name {
    /// Posted on the delivery queue, after the block and the observers. The object is the manager, or nil if the
    /// manager has ended since the delivery was queued.
    public static let AFNetworkingReachabilityDidChange = NSNotification.Name(
        "com.alamofire.networking.reachability.change")
}

/// The key of the status in the notification's `userInfo`. The value is an `NSNumber` with the raw value of the status.
public let AFNetworkingReachabilityNotificationStatusItem = "AFNetworkingReachabilityNotificationStatusItem"

/// Why a manager could not be made.
public struct AFNetworkReachabilityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong. Later versions may have more codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// English text.
        public let description: String

        /// The host is an empty text.
        public static let emptyHost = Code(description: "the host's name is empty")
        /// The host begins with a scheme, as a URL does.
        public static let schemeInHost = Code(description: "a host's name has no scheme")
        /// The host contains a slash.
        public static let slashInHost = Code(description: "a host's name has no slash")
        /// The host contains white space.
        public static let whiteSpaceInHost = Code(description: "a host's name has no white space")
        /// The host contains a NUL character.
        public static let nulInHost = Code(description: "a host's name has no NUL")
        /// The host is longer than 1024 bytes.
        public static let hostTooLong = Code(description: "the host's name is longer than 1024 bytes")
        /// The host is an international name that cannot be converted.
        public static let hostNotConvertible = Code(
            description: "the host's name cannot be converted to an international name")
        /// The bytes are no socket address of IPv4 or IPv6.
        public static let badAddress = Code(description: "not a socket address of IPv4 or IPv6")
        /// The C library or a system call failed. `status` has the cause.
        public static let system = Code(description: "the system refused")
    }

    /// What went wrong.
    public let code: Code
    /// `SCError()` after the failure: below 1000, a value of `errno`. 0 if the C library was not called.
    public let status: Int32

    /// English text.
    public var description: String {
        code == .system ? "\(code): \(String(cString: SCErrorString(status)))" : "\(code)"
    }
}

extension AFNetworkReachabilityError {
    init(_ flaw: HostNameFlaw) {
        let code: Code =
            switch flaw {
            case .empty: .emptyHost
            case .scheme: .schemeInHost
            case .slash: .slashInHost
            case .whiteSpace: .whiteSpaceInHost
            case .notConvertible: .hostNotConvertible
            case .nul: .nulInHost
            case .tooLong: .hostTooLong
            }
        self.init(code: code, status: 0)
    }

    static let badAddress = AFNetworkReachabilityError(code: .badAddress, status: 0)

    /// The C library's last failure on this thread.
    static var last: AFNetworkReachabilityError {
        AFNetworkReachabilityError(code: .system, status: SCError())
    }
}
#endif
