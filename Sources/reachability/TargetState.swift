// SPDX-License-Identifier: MIT

import NetworkReachability

/// The path to a target at one moment.
struct TargetState: Equatable {
    enum Status: String {
        /// The name is not looked up yet: the flags are not about the host.
        case pending
        case reachable, unreachable
    }

    let path: ReachabilityPath
    /// Whether the target is a name.
    let isOfName: Bool
    /// All addresses of a name that the path was evaluated with, in the order of the look-up; of an address, itself.
    let addresses: [IPAddress]

    /// A change of MTU, table or next hop alone is none: no callback comes for it. Nor is another order of the addresses.
    static func == (one: TargetState, other: TargetState) -> Bool {
        one.hasLine(of: other) && Set(one.addresses) == Set(other.addresses)
    }

    /// Whether a line for people is the same. It has only the address that is used.
    func hasLine(of other: TargetState?) -> Bool {
        guard let other else { return false }
        var path = path
        (path.nextHop, path.mtu, path.table) = (other.path.nextHop, other.path.mtu, other.path.table)
        return path == other.path
    }

    var status: Status {
        path.reason == .namePending ? .pending : path.isReachable ? .reachable : .unreachable
    }

    var isFailedLookUp: Bool {
        [.nameNotFound, .nameServerFailure, .nameServerUnreachable].contains(path.reason)
    }

    /// nil for a target that is reachable.
    var reasonText: String? { path.reason?.description }
    /// nil for a target that is reachable.
    var reasonCode: String? { path.reason?.code }

    /// One or two words: the status, or better the reason.
    var shortText: String {
        switch status {
        case .reachable: "reachable"
        case .pending, .unreachable: reasonText ?? "not reachable"
        }
    }

    /// Flags, way and reason, in the words of ip-route(8).
    var line: String { ([flagText] + way + why + proof).joined(separator: "  ") }

    /// The same; the flags have the colour of the status.
    var colouredLine: String {
        let flags = BoardMark(status).colour.applied(to: flagText)
        return ([flags] + way + why + proof).joined(separator: "  ")
    }

    /// The parts of a line, each in a column of its own. An empty text: the part has no value.
    func cells(_ presentation: Presentation) -> [String] {
        let (destination, interface, gateway, source) =
            status == .pending ? (nil, nil, nil, nil) : (destinationText, interfaceText, gatewayText, sourceText)
        let flags = status == .reachable ? path.flags.names.filter { $0 != "reachable" }.joined(separator: ",") : ""
        return [
            presentation.hasFlagText ? flagText : statusText, why.joined(), destination ?? "", interface ?? "",
            gateway ?? "",
            source ?? "",
            presentation.hasFlagText ? "" : flags,
        ] + [proof.joined(separator: "  ")]
    }

    /// The values of a line of --format tsv, without the target and the time. A missing value is "-".
    func fields(_ presentation: Presentation) -> [String] {
        let flags = presentation.hasFlagText ? flagText : path.flags.names.joined(separator: ",")
        let values: [String?] = [
            status.rawValue, reasonCode, path.interface?.name, path.gateway?.description, path.source?.description,
            status == .pending || flags.isEmpty ? nil : flags,
        ]
        return values.map { $0?.escaped ?? "-" }
    }

    /// The last value of a line of --format tsv.
    var destinationField: String { path.destination?.description.escaped ?? "-" }

    /// The reason comes first, so that it stays when the line is cut.
    var lineWithReasonFirst: String { (why + [flagText] + way + proof).joined(separator: "  ") }

    /// For a target that is not as wanted when a wait ends. The exit status is then 1, so this never says "Reachable".
    var lineAtTimeOut: String {
        status == .reachable ? (["still reachable"] + way + proof).joined(separator: "  ") : line
    }

    /// The status in the words of `flagText`.
    private var statusText: String {
        switch status {
        case .pending: "Pending"
        case .reachable: "\(ReachabilityFlags.reachable)"
        case .unreachable: "\(ReachabilityFlags())"
        }
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
        status == .pending ? [] : [destinationText, interfaceText, gatewayText, sourceText].compactMap { $0 }
    }

    /// An address is its own destination.
    private var destinationText: String? { isOfName ? path.destination.map { "to \("\($0)".escaped)" } : nil }

    private var interfaceText: String? {
        guard let interface = path.interface else { return nil }
        // The types for cables, and those that work like cables, are left out.
        let types: Set<ReachabilityPath.Interface.InterfaceType> = [.wiFi, .cellular, .pointToPoint, .tunnel]
        let type = types.contains(interface.type) ? "  type \(interface.type)" : ""
        return "dev \(interface.name.escaped)\(type)"
    }

    private var gatewayText: String? { path.gateway.map { "via \("\($0)".escaped)" } }
    private var sourceText: String? { path.source.map { "src \("\($0)".escaped)" } }

    private var why: [String] { reasonText.map { ["(\($0))"] } ?? [] }
    private var proof: [String] {
        (path.flow.isEmpty ? [] : ["flow \(path.flow)"]) + (path.nextHop == .failed ? ["next hop failed"] : [])
            + (path.evidence == .kernel ? [] : ["evidence \(path.evidence)"])
    }
}
