// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CReachability
internal import ReachabilityMonitorSupport

/// The C library's target for the network of one namespace.
// Unchecked Sendable: the only property is a constant. The C library's own locks guard the target.
package final class KernelNetwork: @unchecked Sendable {
    private let target: SCNetworkReachability

    /// In the network namespace of the calling thread. nil: out of memory or descriptors, or no name servers could be
    /// read.
    package init?() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var options = SCNetworkReachabilityOptions()
        options.size = MemoryLayout<SCNetworkReachabilityOptions>.size
        options.options = SCNetworkReachabilityOption.notifyNetwork.rawValue
        let target = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                options.remoteAddress = address
                return SCNetworkReachabilityCreateWithOptions(nil, &options)
            }
        }
        guard let target else { return nil }
        self.target = target
    }

    /// The interface with this index, if it has a default route.
    package static func way(ofInterface index: UInt32) -> NWInterface? {
        KernelNetwork()?.read()?.state.ways.first { $0.interface.index == Int(index) }?.interface
    }

    /// What the C library has found out.
    package struct Reading {
        package var state = NetworkState()
        /// All interfaces are known, not only those that the kernel chooses.
        package var isWhole = false
        /// The type of an interface is not known, and the state has the usual one for its hardware.
        package var lacksType = false
    }

    /// The last evaluation of a scheduled target. If the target is not scheduled, this queries the kernel, and may wait
    /// for the kernel's locks.
    package func read() -> Reading? {
        // Most machines have one interface with a default route: then both structures are on the stack.
        var count = 1
        while true {
            let (result, needed) = withUnsafeTemporaryAllocation(
                of: SCNetworkReachabilityNetwork.self, capacity: 1
            ) { network in
                withUnsafeTemporaryAllocation(of: SCNetworkReachabilityWay.self, capacity: count) { ways in
                    read(into: network.baseAddress!, ways)
                }
            }
            if needed <= count { return result }
            count = needed
        }
    }

    /// Also returns the number of ways. The state is nil if the ways do not fit into `ways`, or if the call failed.
    private func read(
        into network: UnsafeMutablePointer<SCNetworkReachabilityNetwork>,
        _ ways: UnsafeMutableBufferPointer<SCNetworkReachabilityWay>
    ) -> (Reading?, needed: Int) {
        network.pointee.size = MemoryLayout<SCNetworkReachabilityNetwork>.size
        let size = MemoryLayout<SCNetworkReachabilityWay>.stride
        guard SCNetworkReachabilityGetNetwork(target, network, ways.baseAddress, size, ways.count) else {
            return (nil, 0)
        }
        let count = Int(network.pointee.wayCount)
        guard count <= ways.count else { return (nil, count) }
        let known = UnsafeMutableBufferPointer(rebasing: ways[..<count])
        let reading = Reading(
            state: NetworkState(&network.pointee, known), isWhole: network.pointee.waysAreComplete != 0,
            lacksType: known.contains { $0.interfaceTypeIsKnown == 0 })
        return (reading, count)
    }

    /// Calls `onChange` on the library's own thread: once when all interfaces are known, then at each change. Returns
    /// false if the target cannot be scheduled.
    package func schedule(_ onChange: @escaping @Sendable () -> Void) -> Bool {
        target.schedule(onChange)
    }

    /// A call that has begun may end after this returns.
    package func unschedule() {
        target.unschedule()
    }
}
#endif
