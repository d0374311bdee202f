// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability
public import Foundation

// `SCError()` and `SCErrorString(_:)` are the C library's own.

/// Statuses of `SCError()`. Those below 1000 are values of `errno`.
public let kSCStatusOK = 0
/// A failure that no other status tells.
public let kSCStatusFailed = 1001
/// Nonsense, or a call that does not fit the target's state.
public let kSCStatusInvalidArgument = 1002
public let kSCStatusAccessError = 1003
/// The kernel could not be asked just now.
public let kSCStatusReachabilityUnknown = 4001

/// The domain of the errors that `SCCopyLastError()` gives.
public var kCFErrorDomainSystemConfiguration: CFString! { domain as NSString }
private let domain = "com.apple.SystemConfiguration"

/// The calling thread's last failure, `SCError()`, as an error with its text.
public func SCCopyLastError() -> CFError {
    let status = SCError()
    let text = String(cString: SCErrorString(status))
    return NSError(domain: domain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: text])
}

/// Makes `SCError()` say `kSCStatusInvalidArgument`, which only the C library can, and answers false.
package func refused() -> Bool {
    SCNetworkReachabilityCreateWithName(nil, "") != nil
}
#endif
