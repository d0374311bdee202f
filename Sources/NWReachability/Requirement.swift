// SPDX-License-Identifier: MIT

#if os(Linux)
/// Which interfaces count for a monitor.
enum Requirement: Hashable, Sendable {
    case any
    case required(NWInterface.InterfaceType)
    case prohibited(Set<NWInterface.InterfaceType>)

    init(prohibiting types: [NWInterface.InterfaceType]) {
        self = types.isEmpty ? .any : .prohibited(Set(types))
    }

    func allows(_ interface: NWInterface) -> Bool {
        switch self {
        case .any: true
        case .required(let type): interface.type == type
        case .prohibited(let types): !types.contains(interface.type)
        }
    }
}

/// What a monitor with a requirement sees of the network.
struct Choice {
    let interfaces: [NWInterface]
    /// The default paths that packets take.
    let used: DefaultPaths
    let isLoopback: Bool

    init(_ network: NetworkState, _ requirement: Requirement) {
        isLoopback = requirement == .required(.loopback)
        if isLoopback {
            used = network.loopback
            let isUp = used.ipv4 != nil || used.ipv6 != nil
            interfaces = isUp ? [NetworkState.loopbackInterface] : []
        } else if requirement == .any {
            // The kernel chooses.
            used = network.chosen
            interfaces = network.ways.map { $0.interface }
        } else {
            // A program binds its sockets to an interface.
            let ways = network.ways.filter { requirement.allows($0.interface) }
            interfaces = ways.map { $0.interface }
            used = ways.best
        }
    }

    /// The best of the families.
    var status: NWPath.Status {
        if used.ipv4 == nil && used.ipv6 == nil { return .unsatisfied }
        let requiresConnection =
            (used.ipv4?.requiresConnection ?? true) && (used.ipv6?.requiresConnection ?? true)
        return requiresConnection ? .requiresConnection : .satisfied
    }
}

extension [Way] {
    /// The first path of each family.
    var best: DefaultPaths {
        DefaultPaths(
            ipv4: first { $0.paths.ipv4 != nil }?.paths.ipv4,
            ipv6: first { $0.paths.ipv6 != nil }?.paths.ipv6)
    }
}
#endif
