// SPDX-License-Identifier: MIT

#if os(Linux)
/// A network interface, in the shape of Network.framework's.
///
/// Interfaces are equal if they have the same name and index, as in Apple's published source.
public struct NWInterface: Hashable, Sendable {
    /// What an interface is. It depends on the device, never on the interface's name. A VLAN, bond or bridge has the
    /// type of the device that carries it.
    public enum InterfaceType: Sendable {
        /// Virtual or unknown: a tunnel, a dummy, ppp without a modem.
        case other
        /// A Wi-Fi interface.
        case wifi
        /// A cellular interface, or ppp over a modem.
        case cellular
        /// Ethernet by wire, or a virtual interface that leads out of a container or a virtual machine: veth, macvlan, ipvlan, netkit.
        case wiredEthernet
        /// The interface lo.
        case loopback
    }

    /// What the interface is.
    public let type: InterfaceType
    private let number: UInt32
    /// As the kernel has it, so that a copy counts no references.
    private let nameBytes: NameBytes

    /// The name that the interface had when the path was made: "eth0".
    public var name: String { nameBytes.text }
    /// The kernel's number of the interface.
    public var index: Int { Int(number) }

    init(type: InterfaceType, name: NameBytes, index: UInt32) {
        self.type = type
        nameBytes = name
        number = index
    }
}

/// The name of an interface: at most 15 bytes.
struct NameBytes: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64

    /// From 16 bytes, with zeros at the end.
    init(loading bytes: UnsafeRawBufferPointer) {
        first = bytes.loadUnaligned(as: UInt64.self)
        second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    /// Bytes after the fifteenth are dropped.
    init(_ text: String) {
        var bytes = [UInt8](text.utf8.prefix(15))
        bytes += [UInt8](repeating: 0, count: 16 - bytes.count)
        self = bytes.withUnsafeBytes { NameBytes(loading: $0) }
    }

    var text: String {
        withUnsafeBytes(of: self) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension NWInterface {
    /// Whether two interfaces have the same name and index.
    public static func == (one: NWInterface, other: NWInterface) -> Bool {
        one.number == other.number && one.nameBytes == other.nameBytes
    }

    /// Hashes name and index.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(nameBytes)
    }

    /// Whether the type is the same, too: for what is a change of a path.
    func isSame(_ other: NWInterface) -> Bool {
        self == other && type == other.type
    }
}

extension NWInterface: CustomDebugStringConvertible {
    /// The name.
    public var debugDescription: String { name }
}
#endif
