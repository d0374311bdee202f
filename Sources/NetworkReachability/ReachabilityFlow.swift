// SPDX-License-Identifier: MIT

#if os(Linux)
/// What else is known about the packets to a target. Later versions may have more bits.
public struct ReachabilityFlow: OptionSet, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a value from the one in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A new connection like this one, without a bound address, would leave over another interface than this flow, or
    /// than the one that has this flow's source address.
    public static let betterPath = ReachabilityFlow(rawValue: 1 << 0)
    /// Packets leave over an interface that does not have their source address, and a new connection over it would get
    /// another one. The network may drop the packets: an established connection then hangs.
    public static let sourceForeign = ReachabilityFlow(rawValue: 1 << 1)
    /// A policy rule selects by what the monitor does not say: protocol, ports, traffic class, or another user. For a
    /// program's socket, the kernel may decide otherwise. A monitor of a host, a port and a transport says more.
    public static let incomplete = ReachabilityFlow(rawValue: 1 << 2)
}

extension ReachabilityFlow: CustomStringConvertible {
    /// The names in code, joined by commas: "betterPath,sourceForeign". Empty: no bit is set.
    public var description: String {
        names.joined(separator: ",")
    }

    package var names: [String] {
        let known: [(ReachabilityFlow, String)] = [
            (.betterPath, "betterPath"), (.sourceForeign, "sourceForeign"), (.incomplete, "incomplete"),
        ]
        let unknown = subtracting(known.reduce(into: []) { $0.formUnion($1.0) })
        let words = known.compactMap { contains($0) ? $1 : nil }
        return unknown.isEmpty ? words : words + ["0x" + String(unknown.rawValue, radix: 16)]
    }
}

/// Whether the next hop of packets responds, as far as the kernel knows: the gateway, or without one the target itself.
/// No packet is sent to find out. If it does not respond, a TCP connection fails after some seconds, and packets of UDP
/// are lost. Flags and reason do not depend on it.
public struct ReachabilityNextHop: RawRepresentable, Sendable, Hashable {
    /// The value in C.
    public let rawValue: UInt32

    /// Makes a value from the one in C.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The kernel has not tried, waits for a reply, or has forgotten it; or there is no next hop.
    public static let unknown = ReachabilityNextHop(rawValue: 0)
    /// It responds, or needs not be asked.
    public static let confirmed = ReachabilityNextHop(rawValue: 1)
    /// It has responded some time ago.
    public static let unconfirmed = ReachabilityNextHop(rawValue: 2)
    /// It has not responded.
    public static let failed = ReachabilityNextHop(rawValue: 3)
}

extension ReachabilityNextHop: CustomStringConvertible {
    /// The name in code: "failed".
    public var description: String {
        let names = ["unknown", "confirmed", "unconfirmed", "failed"]
        return rawValue < names.count ? names[Int(rawValue)] : "nextHop \(rawValue)"
    }
}
#endif
