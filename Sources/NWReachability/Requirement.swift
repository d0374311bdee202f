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
    /// The default paths of IPv4 and IPv6 that packets take.
    let used: [NetworkState.DefaultPath?]
    let isLoopback: Bool

    init(_ network: NetworkState, _ requirement: Requirement) {
        isLoopback = requirement == .required(.loopback)
        if isLoopback {
            used = network.loopback
            interfaces = used.contains { $0 != nil } ? [NetworkState.loopbackInterface] : []
            return
        }
        let ways = network.ways.filter { requirement.allows($0.interface) }
        interfaces = ways.map(\.interface)
        // Without a requirement, the kernel chooses. With one, a program binds its sockets to an interface.
        used =
            requirement == .any
            ? network.chosen : (0...1).map { family in ways.lazy.compactMap { $0.paths[family] }.first }
    }

    /// The best of the families.
    var status: NWPath.Status {
        let used = used.compactMap { $0 }
        if used.isEmpty { return .unsatisfied }
        return used.contains { !$0.requiresConnection } ? .satisfied : .requiresConnection
    }
}
#endif
