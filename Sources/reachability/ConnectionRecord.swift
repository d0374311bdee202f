// SPDX-License-Identifier: MIT

import NetworkReachability

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
        try object.encode(path.reason == .none ? nil : path.reason.code, forKey: .reason)
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
