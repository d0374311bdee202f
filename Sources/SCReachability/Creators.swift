// SPDX-License-Identifier: MIT

// The creators for sources that name an allocator, which none of them uses. Disfavoured: where `nil` is passed, the C
// library's own is meant. Documentation: <reachability/reachability.h>.

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
