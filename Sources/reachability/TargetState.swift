// SPDX-License-Identifier: MIT

import CReachability
import NetworkReachability

/// The path to a target at one moment. Equal states make one line of output.
struct TargetState: Equatable {
    enum Status: String {
        /// The name is not looked up yet: the flags are not about the host.
        case pending
        case reachable, unreachable
    }

    let path: ReachabilityPath
    let evidence: String

    init(_ path: SCNetworkReachabilityPath) {
        self.path = ReachabilityPath(path)
        evidence = path.evidence == SCNetworkReachabilityEvidence.socket.rawValue ? "socket" : "kernel"
    }

    var status: Status {
        path.reason == .namePending ? .pending : path.isReachable ? .reachable : .unreachable
    }

    /// nil for a target that is reachable.
    var reasonText: String? { path.reason == .none ? nil : "\(path.reason)" }
    /// nil for a target that is reachable.
    var reasonCode: String? { path.reason == .none ? nil : path.reason.code }

    /// One or two words: the status, or better the reason.
    var shortText: String {
        switch status {
        case .reachable: "reachable"
        case .pending, .unreachable: reasonText ?? "not reachable"
        }
    }

    /// Flags, way and reason, in the words of ip-route(8).
    var line: String { ([flagText] + way + why + proof).joined(separator: "  ") }

    /// The reason comes first, so that it stays when the line is cut.
    var lineWithReasonFirst: String { (why + [flagText] + way + proof).joined(separator: "  ") }

    /// For a target that is not as wanted when a wait ends. The exit status is then 1, so this never says "Reachable".
    var lineAtTimeOut: String {
        status == .reachable ? (["still reachable"] + way + proof).joined(separator: "  ") : line
    }

    /// It says "Reachable" only of a target that counts as reachable.
    private var flagText: String {
        switch status {
        case .pending: "Pending"
        case .reachable: "\(path.flags)"
        case .unreachable: "\(ReachabilityFlags())"
        }
    }

    private var way: [String] {
        // The way of the default path, perhaps not of the host.
        if status == .pending { return [] }
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
    private var proof: [String] {
        (path.flow.isEmpty ? [] : ["flow \(path.flow)"]) + (evidence == "kernel" ? [] : ["evidence \(evidence)"])
    }
}
