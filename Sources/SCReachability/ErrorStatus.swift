// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability
public import Foundation

// The C library declares `SCError()` and `SCErrorString(_:)`.

/// No failure. A status of `SCError()`, like the other constants. A status from 1 to 999 is a value of `errno`.
public let kSCStatusOK = 0
/// A failure without a status of its own.
public let kSCStatusFailed = 1001
/// An argument is not valid, or the call does not fit the target's state.
public let kSCStatusInvalidArgument = 1002
/// A status of Apple's header.
public let kSCStatusAccessError = 1003
/// Apple's status of a key that does not exist. No call here fails with it.
public let kSCStatusNoKey = 1004
/// The kernel cannot be queried now.
public let kSCStatusReachabilityUnknown = 4001

/// The domain of the errors that `SCCopyLastError()` returns.
public var kCFErrorDomainSystemConfiguration: CFString! { domain as NSString }
private let domain = "com.apple.SystemConfiguration"

/// Returns the calling thread's last failure, `SCError()`, as an error with its text.
public func SCCopyLastError() -> CFError {
    let status = SCError()
    let text = String(cString: SCErrorString(status))
    return NSError(domain: domain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: text])
}

/// Returns the domain of an error.
public func CFErrorGetDomain(_ error: CFError!) -> CFString! {
    error.domain as NSString
}

/// Returns the text of an error.
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! {
    error.localizedDescription as NSString
}

/// Sets `SCError()` to `kSCStatusInvalidArgument`, and returns false. Only the C library can set it, so this makes a
/// call that fails with it.
package func failWithInvalidArgument() -> Bool {
    SCNetworkReachabilityCreateWithName(nil, "") != nil
}
#endif
