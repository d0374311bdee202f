// SPDX-License-Identifier: MIT

#if os(Linux)
/// The protocol of the packets to a port.
public enum ReachabilityTransport: Sendable, Hashable {
    /// TCP.
    case tcp
    /// UDP.
    case udp
}
#endif
