// SPDX-License-Identifier: MIT

import CReachability
import Glibc
import NetworkReachability
import ReachabilityConnections

/// One end of a connection.
struct Endpoint: Hashable, CustomStringConvertible {
    let address: IPAddress
    let port: UInt16

    /// An IPv4 address inside an IPv6 socket is IPv4.
    init?(_ storage: sockaddr_storage) {
        guard let address = IPAddress(storage) else { return nil }
        let bytes = address.bytes
        let isMapped = address.isIPv6 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
        let ipv4 = isMapped ? IPAddress(bytes: bytes.suffix(4)) : nil
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

/// What this machine does with the packets of a connection. The first that applies.
enum ConnectionVerdict: Equatable {
    /// The local address is not assigned any more.
    case sourceGone
    case unreachable(ReachabilityReason?)
    /// Packets leave over an interface that does not have the local address.
    case sourceForeign
    /// The gateway, or the other end on the same link, does not respond.
    case nextHopFailed
    /// A new connection would leave over another interface.
    case betterPath
    case viable

    init(_ path: ReachabilityPath) {
        if path.reason == .localAddressNotAssigned {
            self = .sourceGone
        } else if !path.isReachable {
            self = .unreachable(path.reason)
        } else if path.flow.contains(.sourceForeign) {
            self = .sourceForeign
        } else if path.nextHop == .failed {
            self = .nextHopFailed
        } else {
            self = path.flow.contains(.betterPath) ? .betterPath : .viable
        }
    }

    /// For programs.
    var code: String {
        switch self {
        case .sourceGone: "sourceGone"
        case .unreachable: "unreachable"
        case .sourceForeign: "sourceForeign"
        case .nextHopFailed: "nextHopFailed"
        case .betterPath: "betterPath"
        case .viable: "viable"
        }
    }

    /// For people.
    var text: String {
        switch self {
        case .sourceGone: "source gone"
        case .unreachable(let reason): reason.map { "\($0)" } ?? "not reachable"
        case .sourceForeign: "foreign source"
        case .nextHopFailed: "next hop failed"
        case .betterPath: "better path"
        case .viable: "viable"
        }
    }
}

/// A connection and its verdict, for a line of output.
struct ConnectionRecord: Encodable {
    let connection: Connection
    let path: ReachabilityPath
    let verdict: ConnectionVerdict
    let owner: SocketOwners.Process?
    /// A rule selects by mark, and this process may not know that of the connection.
    let isAsIfUnmarked: Bool
    /// In UTC.
    let time: String

    private enum Key: String, CodingKey {
        case schema, time, local, localPort, remote, remotePort, verdict, reason, flow, nextHop, interface, gateway
        case retransmits, user, mark, process, asIfUnmarked
    }

    func encode(to encoder: any Encoder) throws {
        let key = connection.key
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(1, forKey: .schema)
        try object.encode(time, forKey: .time)
        try object.encode("\(key.local.address)", forKey: .local)
        try object.encode(key.local.port, forKey: .localPort)
        try object.encode("\(key.remote.address)", forKey: .remote)
        try object.encode(key.remote.port, forKey: .remotePort)
        try object.encode(verdict.code, forKey: .verdict)
        try object.encode(path.reason?.code, forKey: .reason)
        try object.encode(path.flow.names, forKey: .flow)
        try object.encode(path.nextHop == .unknown ? nil : "\(path.nextHop)", forKey: .nextHop)
        try object.encode(path.interface?.name, forKey: .interface)
        try object.encode(path.gateway.map { "\($0)" }, forKey: .gateway)
        try object.encode(connection.retransmits, forKey: .retransmits)
        try object.encode(connection.user, forKey: .user)
        try object.encode(connection.mark, forKey: .mark)
        try object.encode(owner, forKey: .process)
        try object.encode(isAsIfUnmarked, forKey: .asIfUnmarked)
    }

    /// The parts are separated by two blanks.
    var line: String {
        var parts = ["\(connection.key.local) -> \(connection.key.remote)".escaped, verdict.text]
        if let interface = path.interface { parts.append("dev \(interface.name.escaped)") }
        if let gateway = path.gateway { parts.append("via \("\(gateway)".escaped)") }
        if connection.retransmits > 0 { parts.append("retransmitted \(connection.retransmits)") }
        if let owner { parts.append("\(owner.name.escaped)[\(owner.pid)]") }
        if path.flow.contains(.incomplete) { parts.append("flow incomplete") }
        if isAsIfUnmarked { parts.append("as if unmarked") }
        return parts.joined(separator: "  ")
    }
}

/// Which process has a socket, as far as /proc shows it to this user.
struct SocketOwners {
    struct Process: Encodable {
        let pid: Int32
        let name: String
    }

    private var processes: [UInt64: Process] = [:]

    init() {}

    /// Reads the descriptors of all processes. Of several processes with one socket, one counts.
    static func all() -> SocketOwners {
        var owners = SocketOwners()
        for pid in names(in: "/proc").lazy.compactMap({ Int32($0) }) {
            let inodes = names(in: "/proc/\(pid)/fd").compactMap { inode(of: "/proc/\(pid)/fd/\($0)") }
            guard !inodes.isEmpty else { continue }
            let process = Process(pid: pid, name: name(of: pid))
            for inode in inodes { owners.processes[inode] = process }
        }
        return owners
    }

    func owner(of inode: UInt64) -> Process? { processes[inode] }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// "socket:[1234]".
    private static func inode(of path: String) -> UInt64? {
        let link = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let length = buffer.baseAddress.map { readlink(path, $0, buffer.count) } ?? -1
            return length < 0
                ? "" : String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        guard link.hasPrefix("socket:[") else { return nil }
        return UInt64(link.dropFirst("socket:[".count).dropLast())
    }

    private static func name(of pid: Int32) -> String {
        let descriptor = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let length = read(descriptor, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(length, 0)).prefix { $0 != 10 }, as: UTF8.self)
        }
    }
}
