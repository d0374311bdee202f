// SPDX-License-Identifier: MIT

import CReachability
import Glibc
import NetworkReachability
import ReachabilityConnections

/// One end of a connection.
struct Endpoint: Hashable, CustomStringConvertible {
    let address: Address
    let port: UInt16

    /// An IPv4 address inside an IPv6 socket is IPv4.
    init?(_ storage: sockaddr_storage) {
        guard let address = Address(storage) else { return nil }
        let bytes = address.bytes
        let isMapped = address.isIPv6 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
        let ipv4 = isMapped ? Address(bytes.suffix(4).map { "\($0)" }.joined(separator: ".")) : nil
        self.address = ipv4 ?? address
        // The port is at the same place in sockaddr_in6.
        port = withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(as: sockaddr_in.self).sin_port) }
    }

    /// "192.0.2.1:443", "[2001:db8::1]:443".
    var description: String { address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)" }
}

/// An established TCP connection of this network namespace.
struct Connection {
    struct Key: Hashable {
        let local, remote: Endpoint
        let inode: UInt64
        /// What a program can change of an open socket, and what the kernel selects a route by.
        let interface: String
        let mark: UInt32
        let trafficClass: UInt8
    }

    let key: Key
    let user: UInt32
    /// SO_MARK. nil: this process may not know it.
    let mark: UInt32?
    let retransmits: UInt8
    private let kernel: reachability_connection

    private init?(_ kernel: reachability_connection) {
        guard let local = Endpoint(kernel.local), let remote = Endpoint(kernel.remote) else { return nil }
        let interface = withUnsafeBytes(of: kernel.interface) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        key = Key(
            local: local, remote: remote, inode: kernel.inode, interface: interface, mark: kernel.mark,
            trafficClass: kernel.traffic_class)
        user = kernel.user
        mark = kernel.hides_mark ? nil : kernel.mark
        retransmits = kernel.retransmits
        self.kernel = kernel
    }

    /// Those of all users.
    static func all() throws(ToolError) -> [Connection] {
        var list: UnsafeMutablePointer<reachability_connection>?
        var count = 0
        let error = reachability_connections(&list, &count)
        if error != 0 { throw refusal(error) }
        defer { free(list) }
        return UnsafeBufferPointer(start: list, count: count).compactMap(Connection.init)
    }

    private static func refusal(_ error: Int32) -> ToolError {
        var refusal = ToolError(of: "connections", status: error)
        if [EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS].contains(error) {
            refusal.message =
                "connections: this process may not list them: a sandbox must allow sockets of AF_NETLINK (sock_diag(7))"
            refusal.exitStatus = ExitStatus.noPermission
        } else if error == ENOENT {
            refusal.message = "connections: the kernel's module tcp_diag is missing (modprobe tcp_diag)"
            refusal.exitStatus = ExitStatus.noPermission
        }
        return refusal
    }

    /// The target for the packets of the connection. `notifies`: its callbacks tell every change.
    func target(notifies: Bool) -> SCNetworkReachability? {
        var options = SCNetworkReachabilityOptions()
        options.size = MemoryLayout<SCNetworkReachabilityOptions>.size
        options.protocol = UInt8(IPPROTO_TCP)
        options.trafficClass = kernel.traffic_class
        options.routingMark = kernel.mark
        if notifies {
            options.options =
                SCNetworkReachabilityOption.notifyPath.rawValue | SCNetworkReachabilityOption.notifyNextHop.rawValue
        }
        return withUnsafePointer(to: kernel) { kernel in
            withUnsafeBytes(of: kernel.pointee.interface) { interface in
                options.interfaceName =
                    interface[0] == 0 ? nil : interface.baseAddress?.assumingMemoryBound(to: CChar.self)
                return withUnsafePointer(to: kernel.pointee.local) { local in
                    withUnsafePointer(to: kernel.pointee.remote) { remote in
                        options.localAddress = UnsafeRawPointer(local).assumingMemoryBound(to: sockaddr.self)
                        options.remoteAddress = UnsafeRawPointer(remote).assumingMemoryBound(to: sockaddr.self)
                        return SCNetworkReachabilityCreateWithOptions(nil, &options)
                    }
                }
            }
        }
    }
}
