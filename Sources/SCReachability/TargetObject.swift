// SPDX-License-Identifier: MIT

// What Apple's SCNetworkReachability can do because it is an object of CoreFoundation: be compared, be a key, and be the
// object of a notification.

#if os(Linux)
public import CReachability
public import CoreFoundation
public import Foundation
internal import Synchronization

/// Two references are equal if they are the same target.
extension SCNetworkReachability: @retroactive Equatable, @retroactive Hashable {
    /// Whether two references are the same target.
    public static func == (one: SCNetworkReachability, other: SCNetworkReachability) -> Bool {
        one.address == other.address
    }

    /// Hashes the identity of the target.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(address)
    }

    fileprivate var address: UInt {
        unsafeBitCast(self, to: UInt.self)
    }
}

/// Whether two references are the same target. Apple's targets are objects, which Swift compares so.
public func === (one: SCNetworkReachability?, other: SCNetworkReachability?) -> Bool {
    one?.address == other?.address
}

/// Whether two references are different targets.
public func !== (one: SCNetworkReachability?, other: SCNetworkReachability?) -> Bool {
    !(one === other)
}

/// Returns the type of a target, `SCNetworkReachabilityGetTypeID()`.
public func CFGetTypeID(_ target: SCNetworkReachability!) -> CFTypeID {
    SCNetworkReachabilityGetTypeID()
}

/// The identity of a target as an object, for NotificationCenter. It does not retain the target.
///
/// NotificationCenter keeps only the identity of the object whose notifications an observer wants. So the identity must
/// live as long as the target. The end of a target is not known here, so an identity stays for as long as the process
/// lives, and a later target at the same address has the same one.
public final class SCNetworkReachabilityIdentity: NSObject, Sendable {
    /// By the address of the target.
    private static let all = Mutex<[UInt: SCNetworkReachabilityIdentity]>([:])

    fileprivate static func identity(of target: SCNetworkReachability) -> SCNetworkReachabilityIdentity {
        all.withLock { all in
            if let identity = all[target.address] { return identity }
            let identity = SCNetworkReachabilityIdentity()
            all[target.address] = identity
            return identity
        }
    }
}

/// Makes a target the object of a notification. An identity does not convert back to a target; the object of the
/// notification is the target itself.
extension SCNetworkReachability: @retroactive _ObjectiveCBridgeable {
    /// The object for NotificationCenter.
    public func _bridgeToObjectiveC() -> SCNetworkReachabilityIdentity {
        .identity(of: self)
    }

    /// There is no way back from an identity to a target.
    public static func _forceBridgeFromObjectiveC(
        _ source: SCNetworkReachabilityIdentity, result: inout SCNetworkReachability?
    ) {
        result = nil
    }

    /// There is no way back from an identity to a target.
    public static func _conditionallyBridgeFromObjectiveC(
        _ source: SCNetworkReachabilityIdentity, result: inout SCNetworkReachability?
    ) -> Bool {
        false
    }

    /// There is no way back from an identity to a target.
    public static func _unconditionallyBridgeFromObjectiveC(
        _ source: SCNetworkReachabilityIdentity?
    ) -> SCNetworkReachability {
        fatalError("an identity does not convert to a target")
    }
}
#endif
