// SPDX-License-Identifier: MIT

import CReachability

/// What is known of the way to a target at one moment. Equal states are one line of output.
struct State: Equatable {
    struct Interface: Equatable, Encodable {
        var name: String
        var index: UInt32
        var type: String

        /// In lines: a cable, or what is like one, goes without saying.
        var kind: String? {
            ["wiFi", "cellular", "pointToPoint", "tunnel"].contains(type) ? type : nil
        }
    }

    var flags: SCNetworkReachabilityFlags
    var reason: SCNetworkReachabilityReason
    var interface: Interface?
    var gateway: Address?
    var source: Address?
    var destination: Address?
    var evidence: String

    init(_ path: SCNetworkReachabilityPath) {
        flags = path.flags
        reason = path.reason
        gateway = Address(path.gateway)
        source = Address(path.source)
        destination = Address(path.destination)
        evidence = path.evidence == SCNetworkReachabilityEvidence.socket.rawValue ? "socket" : "kernel"
        if path.interfaceIndex != 0 {
            let name = withUnsafeBytes(of: path.interfaceName) { string(from: $0.bindMemory(to: CChar.self)) }
            interface = Interface(name: name, index: path.interfaceIndex, type: path.interfaceType.text)
        }
    }

    /// A name that no server has answered for: its flags are those of the default path, and tell nothing of the host.
    var isPending: Bool { reason == .namePending }

    /// A packet can leave for the target, or brings up the connection that it needs by itself.
    var isReachable: Bool {
        guard flags.contains(.reachable), !isPending else { return false }
        let automatic = !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
        return !flags.contains(.connectionRequired) || automatic && !flags.contains(.interventionRequired)
    }

    var flagsText: String {
        string { SCNetworkReachabilityFlagsGetString(flags, $0, $1) }
    }

    /// nil for a target that is reachable.
    var reasonText: String? {
        reason == .none ? nil : String(cString: SCNetworkReachabilityReasonString(reason))
    }

    /// Flags, way and reason, in the words of ip-route(8).
    var line: String { ([flagsText] + way + why + proof).joined(separator: "  ") }

    /// The reason first: of a line that is cut, it must be left.
    var lineByWeight: String { (why + [flagsText] + way + proof).joined(separator: "  ") }

    private var way: [String] {
        [("dev", interface?.name), ("type", interface?.kind), ("via", gateway?.text), ("src", source?.text)]
            .compactMap { word, value in value.map { "\(word) \($0)" } }
    }

    private var why: [String] { reasonText.map { ["(\($0))"] } ?? [] }
    private var proof: [String] { evidence == "kernel" ? [] : ["evidence \(evidence)"] }
}

extension SCNetworkReachabilityInterfaceType {
    fileprivate var text: String {
        switch self {
        case .loopback: "loopback"
        case .wiredEthernet: "wiredEthernet"
        case .wiFi: "wiFi"
        case .cellular: "cellular"
        case .pointToPoint: "pointToPoint"
        case .tunnel: "tunnel"
        case .virtual: "virtual"
        default: "other"
        }
    }
}
