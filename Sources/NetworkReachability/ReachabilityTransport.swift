// SPDX-License-Identifier: MIT

#if os(Linux)
/// The protocol of the packets to a port.
public enum ReachabilityTransport: Sendable, Hashable {
    case tcp
    case udp
}
#endif
