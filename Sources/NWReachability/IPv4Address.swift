// SPDX-License-Identifier: MIT

#if os(Linux)
public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An IPv4 address, perhaps with an interface.
public struct IPv4Address: IPAddress, Hashable, CustomDebugStringConvertible {
    /// 0.0.0.0.
    public static let any = IPv4Address(0, 0, 0, 0)
    /// 255.255.255.255.
    public static let broadcast = IPv4Address(255, 255, 255, 255)
    /// 127.0.0.1.
    public static let loopback = IPv4Address(127, 0, 0, 1)
    /// 224.0.0.1, the group of all hosts.
    public static let allHostsGroup = IPv4Address(224, 0, 0, 1)
    /// 224.0.0.2, the group of all routers.
    public static let allRoutersGroup = IPv4Address(224, 0, 0, 2)
    /// 224.0.0.22, the group for reports of IGMP version 3.
    public static let allReportsGroup = IPv4Address(224, 0, 0, 22)
    /// 224.0.0.251, the group of multicast DNS.
    public static let mdnsGroup = IPv4Address(224, 0, 0, 251)

    let address: AddressBytes
    /// The interface to which the address belongs; nil if none was given.
    public let interface: NWInterface?

    /// Makes an address from 4 bytes in network order. nil: the number of bytes is wrong.
    public init?(_ rawValue: Data, _ interface: NWInterface? = nil) {
        guard let address = AddressBytes(rawValue, count: 4) else { return nil }
        self.init(address, interface)
    }

    /// An interface may follow: "192.0.2.1%eth0".
    public init?(_ string: String) {
        guard let (text, interface) = splitInterface(string), let parsed = ParsedAddress(text, family: AF_INET)
        else { return nil }
        self.init(parsed.bytes, interface)
    }

    init(_ address: AddressBytes, _ interface: NWInterface?) {
        self.address = address
        self.interface = interface
    }

    private init(_ bytes: UInt8...) {
        self.init(AddressBytes(bytes), nil)
    }

    /// The 4 bytes in network order.
    public var rawValue: Data { Data(bytes) }
    /// Whether this is 127.0.0.1 without an interface, as on Apple's platforms. Other addresses of 127.0.0.0/8 are not.
    public var isLoopback: Bool { self == .loopback }
    /// Whether this is an address of 169.254.0.0/16.
    public var isLinkLocal: Bool { bytes[0] == 169 && bytes[1] == 254 }
    /// Whether this is an address of 224.0.0.0/4.
    public var isMulticast: Bool { bytes[0] & 0xf0 == 0xe0 }
    /// The address as text, with `%` and the interface's name if there is one.
    public var debugDescription: String { address.description(interface) }

    private var bytes: [UInt8] { address.bytes }
}
#endif
