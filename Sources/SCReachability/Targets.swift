// SPDX-License-Identifier: MIT

#if os(Linux)
package import CReachability
internal import ReachabilityInternals

package enum Targets {
    /// 0.0.0.0, which stands for the default path of either family.
    package static func defaultPath() -> SCNetworkReachability? {
        address("0.0.0.0")
    }

    /// An IPv4 literal.
    package static func address(_ literal: String) -> SCNetworkReachability? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        guard inet_pton(AF_INET, literal, &address.sin_addr) == 1 else { return nil }
        return withUnsafeBytes(of: &address) { self.address($0.baseAddress!) }
    }

    /// A target for a `sockaddr` of IPv4 or IPv6. nil: the address is of another family.
    package static func address(_ address: UnsafeRawPointer) -> SCNetworkReachability? {
        SCNetworkReachabilityCreateWithAddress(nil, address.assumingMemoryBound(to: sockaddr.self))
    }

    package static func host(_ host: String) -> SCNetworkReachability? {
        HostNameFlaw(of: host) == nil ? SCNetworkReachabilityCreateWithName(nil, host) : nil
    }

    /// A target for any text that is not empty. If the C library would refuse the text, or would read only a part of
    /// it, the target is a name below .invalid, which is never reachable.
    package static func unchecked(host: String) -> SCNetworkReachability? {
        let isReadable = !host.utf8.contains(0) && host.utf8.count <= HostNameFlaw.maximumLength
        return SCNetworkReachabilityCreateWithName(nil, isReadable ? host : "name.invalid")
    }
}

extension sockaddr_storage {
    /// A copy of the bytes of a socket address of IPv4 or IPv6. nil: the bytes are not such an address.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        withUnsafeMutableBytes(of: &self) { copy in copy.copyBytes(from: bytes.prefix(copy.count)) }
        guard ss_len > 0, bytes.count >= ss_len else { return nil }
    }
}

extension SCNetworkReachability {
    /// The flags now. nil: the kernel could not be queried.
    package var flags: SCNetworkReachabilityFlags? {
        var flags: SCNetworkReachabilityFlags = []
        return SCNetworkReachabilityGetFlags(self, &flags) ? flags : nil
    }
}

extension SCNetworkReachabilityFlags {
    /// Whether a packet can leave, perhaps after a connection is made without help from the user.
    package var isUsable: Bool {
        guard contains(.reachable) else { return false }
        if !contains(.connectionRequired) { return true }
        return !isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]) && !contains(.interventionRequired)
    }

    /// "WR ctiCDld": a letter for each flag that is set, `-` for each that is not.
    package var letters: String {
        let interface: [(SCNetworkReachabilityFlags, String)] = [(.isWWAN, "W"), (.reachable, "R")]
        let connection: [(SCNetworkReachabilityFlags, String)] = [
            (.connectionRequired, "c"), (.transientConnection, "t"), (.interventionRequired, "i"),
            (.connectionOnTraffic, "C"), (.connectionOnDemand, "D"), (.isLocalAddress, "l"), (.isDirect, "d"),
        ]
        return [interface, connection].map { letters in
            letters.map { flag, letter in contains(flag) ? letter : "-" }.joined()
        }.joined(separator: " ")
    }
}
#endif
