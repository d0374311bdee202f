// SPDX-License-Identifier: MIT

import CReachability
import NetworkReachability

/// The path to a target at one moment. Equal states make one line of output.
struct TargetState: Equatable {
    let path: ReachabilityPath
    let evidence: String

    init(_ path: SCNetworkReachabilityPath) {
        self.path = ReachabilityPath(path)
        evidence = path.evidence == SCNetworkReachabilityEvidence.socket.rawValue ? "socket" : "kernel"
    }

    /// The name is not looked up yet: the flags are not about the host.
    var isPending: Bool { path.reason == .namePending }

    /// nil for a target that is reachable.
    var reasonText: String? { path.reason == .none ? nil : "\(path.reason)" }

    /// Flags, way and reason, in the words of ip-route(8).
    var line: String { (["\(path.flags)"] + way + why + proof).joined(separator: "  ") }

    /// The reason comes first, so that it stays when the line is cut.
    var lineWithReasonFirst: String { (why + ["\(path.flags)"] + way + proof).joined(separator: "  ") }

    private var way: [String] {
        // The types for cables, and those that work like cables, are left out.
        let types: Set<ReachabilityPath.Interface.InterfaceType> = [.wiFi, .cellular, .pointToPoint, .tunnel]
        let words: [(String, (any CustomStringConvertible)?)] = [
            ("dev", path.interface?.name),
            ("type", path.interface.map(\.type).flatMap { types.contains($0) ? $0 : nil }),
            ("via", path.gateway), ("src", path.source),
        ]
        return words.compactMap { word, value in value.map { "\(word) \("\($0)".escaped)" } }
    }

    private var why: [String] { reasonText.map { ["(\($0))"] } ?? [] }
    private var proof: [String] { evidence == "kernel" ? [] : ["evidence \(evidence)"] }
}
