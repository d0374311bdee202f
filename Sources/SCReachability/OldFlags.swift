// SPDX-License-Identifier: MIT

// The names that old sources use for the flags. Like Apple's, they are integers: `flags & UInt32(kSCNetworkFlagsReachable)`.

#if os(Linux)
/// The raw value of `SCNetworkReachabilityFlags`.
public typealias SCNetworkConnectionFlags = UInt32

/// The bit of `SCNetworkReachabilityFlags.transientConnection`.
public let kSCNetworkFlagsTransientConnection = 1 << 0
/// The bit of `SCNetworkReachabilityFlags.reachable`.
public let kSCNetworkFlagsReachable = 1 << 1
/// The bit of `SCNetworkReachabilityFlags.connectionRequired`.
public let kSCNetworkFlagsConnectionRequired = 1 << 2
/// The bit of `SCNetworkReachabilityFlags.connectionAutomatic`.
public let kSCNetworkFlagsConnectionAutomatic = 1 << 3
/// The bit of `SCNetworkReachabilityFlags.interventionRequired`.
public let kSCNetworkFlagsInterventionRequired = 1 << 4
/// The bit of `SCNetworkReachabilityFlags.isLocalAddress`.
public let kSCNetworkFlagsIsLocalAddress = 1 << 16
/// The bit of `SCNetworkReachabilityFlags.isDirect`.
public let kSCNetworkFlagsIsDirect = 1 << 17
#endif
