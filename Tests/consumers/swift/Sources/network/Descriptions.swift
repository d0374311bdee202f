// Code as it is written for Apple's Network: everything that a path reports, for a log.

import Foundation
import Network

extension NWInterface.InterfaceType: @retroactive CaseIterable {
    public static let allCases: [NWInterface.InterfaceType] = [.other, .wifi, .cellular, .loopback, .wiredEthernet]
}

func describe(_ path: NWPath) -> [String: String] {
    let types: [NWInterface.InterfaceType] = NWInterface.InterfaceType.allCases.filter { path.usesInterfaceType($0) }
    var description: [String: String] = [
        "interfaces": path.availableInterfaces.map { "\($0.name) (\($0.index), \($0.type))" }.joined(separator: ", "),
        "uses": types.map { "\($0)" }.joined(separator: ", "),
        "expensive": "\(path.isExpensive)",
        "constrained": "\(path.isConstrained)",
        "families": "\(path.supportsIPv4) \(path.supportsIPv6)",
        "dns": "\(path.supportsDNS)",
        "gateways": path.gateways.map { $0.debugDescription }.joined(separator: ", "),
        "local": path.localEndpoint.map { "\($0)" } ?? "none",
    ]
    switch path.status {
    case .satisfied: description["status"] = "satisfied"
    case .unsatisfied: description["status"] = "unsatisfied"
    case .requiresConnection: description["status"] = "requires connection"
    @unknown default: description["status"] = "unknown"
    }
    switch path.unsatisfiedReason {
    case .notAvailable: description["reason"] = "not available"
    case .cellularDenied, .wifiDenied, .localNetworkDenied: description["reason"] = "denied"
    default: description["reason"] = "other"
    }
    return description
}

func isPrivate(_ endpoint: NWEndpoint) -> Bool {
    guard case .hostPort(let host, let port) = endpoint, port != .any || port.rawValue == 0 else { return false }
    switch host {
    case .name(let name, _): return name.hasSuffix(".local")
    case .ipv4(let address): return address.rawValue.first == 10 || address.isLinkLocal || address.isLoopback
    case .ipv6(let address): return address.isLinkLocal || address.isUniqueLocal || address.isLoopback
    @unknown default: return false
    }
}
