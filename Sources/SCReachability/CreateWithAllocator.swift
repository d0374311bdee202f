// SPDX-License-Identifier: MIT

// The create functions for sources that pass an allocator. The allocator is not used. The overloads are disfavoured, so
// that a call with `nil` calls the C library's function. Documentation: <reachability/reachability.h>.

#if os(Linux)
public import CReachability
public import class CoreFoundation.CFAllocator

@_disfavoredOverload
public func SCNetworkReachabilityCreateWithName(
    _ allocator: CFAllocator?, _ nodename: UnsafePointer<CChar>
) -> SCNetworkReachability? {
    SCNetworkReachabilityCreateWithName(nil, nodename)
}

@_disfavoredOverload
public func SCNetworkReachabilityCreateWithAddress(
    _ allocator: CFAllocator?, _ address: UnsafePointer<sockaddr>
) -> SCNetworkReachability? {
    SCNetworkReachabilityCreateWithAddress(nil, address)
}

@_disfavoredOverload
public func SCNetworkReachabilityCreateWithAddressPair(
    _ allocator: CFAllocator?, _ localAddress: UnsafePointer<sockaddr>?, _ remoteAddress: UnsafePointer<sockaddr>?
) -> SCNetworkReachability? {
    SCNetworkReachabilityCreateWithAddressPair(nil, localAddress, remoteAddress)
}
#endif
