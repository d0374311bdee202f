// SPDX-License-Identifier: MIT

#if os(Linux)
public import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

public struct IPv4Address: IPAddress, Hashable, CustomDebugStringConvertible {
    public static let any = IPv4Address(0, 0, 0, 0)
    public static let broadcast = IPv4Address(255, 255, 255, 255)
    public static let loopback = IPv4Address(127, 0, 0, 1)
    public static let allHostsGroup = IPv4Address(224, 0, 0, 1)
    public static let allRoutersGroup = IPv4Address(224, 0, 0, 2)
    public static let allReportsGroup = IPv4Address(224, 0, 0, 22)
    public static let mdnsGroup = IPv4Address(224, 0, 0, 251)

    let address: AddressBytes
    public let interface: NWInterface?

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

    public var rawValue: Data { Data(bytes) }
    /// Whether this is 127.0.0.1 without an interface, as on Apple's platforms. Other addresses of 127.0.0.0/8 are not.
    public var isLoopback: Bool { self == .loopback }
    public var isLinkLocal: Bool { bytes[0] == 169 && bytes[1] == 254 }
    public var isMulticast: Bool { bytes[0] & 0xf0 == 0xe0 }
    public var debugDescription: String { address.description(interface) }

    private var bytes: [UInt8] { address.bytes }
}
#endif
