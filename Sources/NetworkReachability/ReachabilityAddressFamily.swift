// SPDX-License-Identifier: MIT

#if os(Linux)
/// A family of addresses.
public enum ReachabilityAddressFamily: Sendable, Hashable {
    /// IPv4.
    case ipv4
    /// IPv6.
    case ipv6
}
#endif
