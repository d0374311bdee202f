// SPDX-License-Identifier: MIT

import NetworkReachability

/// What this machine does with the packets of a connection. The first that applies.
enum ConnectionVerdict: Equatable {
    /// The local address is not assigned any more.
    case sourceGone
    case unreachable(ReachabilityReason)
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
        case .unreachable(let reason): "\(reason)"
        case .sourceForeign: "foreign source"
        case .nextHopFailed: "next hop failed"
        case .betterPath: "better path"
        case .viable: "viable"
        }
    }
}
