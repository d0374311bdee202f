// SPDX-License-Identifier: MIT

// The create functions for sources that pass an allocator. The allocator is not used. The overloads are disfavoured, so
// that a call with `nil` calls the C library's function. Documentation: <reachability/reachability.h>.

#if os(Linux)
public import CReachability
public import class CoreFoundation.CFAllocator

/// Makes a target for a host's name or an address as text. The allocator is ignored.
@_disfavoredOverload
public func SCNetworkReachabilityCreateWithName(
    _ allocator: CFAllocator?, _ nodename: UnsafePointer<CChar>
) -> SCNetworkReachability? {
    SCNetworkReachabilityCreateWithName(nil, nodename)
}

/// Makes a target for an address. The allocator is ignored.
@_disfavoredOverload
public func SCNetworkReachabilityCreateWithAddress(
    _ allocator: CFAllocator?, _ address: UnsafePointer<sockaddr>
) -> SCNetworkReachability? {
    SCNetworkReachabilityCreateWithAddress(nil, address)
}

/// Makes a target for a pair of addresses. The allocator is ignored.
@_disfavoredOverload
public func SCNetworkReachabilityCreateWithAddressPair(
    _ allocator: CFAllocator?, _ localAddress: UnsafePointer<sockaddr>?, _ remoteAddress: UnsafePointer<sockaddr>?
) -> SCNetworkReachability? {
    SCNetworkReachabilityCreateWithAddressPair(nil, localAddress, remoteAddress)
}
#endif
