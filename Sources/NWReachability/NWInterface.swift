// SPDX-License-Identifier: MIT

#if os(Linux)
/// A network interface, in the shape of Network.framework's.
public struct NWInterface: Hashable, Sendable {
    /// What an interface is. It depends on the device, never on the interface's name. A VLAN, bond or bridge has the
    /// type of the device that carries it.
    public enum InterfaceType: Sendable {
        /// Virtual or unknown: a tunnel, a container's interface, ppp without a modem.
        case other
        case wifi
        /// A cellular interface, or ppp over a modem.
        case cellular
        case wiredEthernet
        case loopback
    }

    public let type: InterfaceType
    public let name: String
    public let index: Int

    init(type: InterfaceType, name: String, index: Int) {
        self.type = type
        self.name = name
        self.index = index
    }
}

extension NWInterface: CustomDebugStringConvertible {
    public var debugDescription: String { name }
}
#endif
