// SPDX-License-Identifier: MIT

import FoundationEssentials
import NetworkReachability

/// A state as one JSON object. Every key is always present; null: there is no value.
struct JSONRecord: Encodable {
    var target: String
    /// In UTC.
    var time: String
    var state: TargetState

    private struct JSONInterface: Encodable {
        let name: String
        let index: UInt32
        let type: String

        init(_ interface: ReachabilityPath.Interface) {
            name = interface.name
            index = interface.index
            type = "\(interface.type)"
        }
    }

    /// Grows when a key changes its meaning, or disappears; not for a new key. docs/reachability.schema.json is for it.
    private static let schema = 1

    private enum Key: String, CodingKey {
        case schema, target, time, status, reachable, reason, flags, flagNames, value, interface, gateway, source,
            destination
        case evidence, flow, nextHop, mtu, table, addresses
    }

    func encode(to encoder: any Encoder) throws {
        let path = state.path
        var object = encoder.container(keyedBy: Key.self)
        // The flags of a pending name are the default path's.
        let isPending = state.status == .pending
        try object.encode(JSONRecord.schema, forKey: .schema)
        try object.encode(target, forKey: .target)
        try object.encode(time, forKey: .time)
        try object.encode(state.status.rawValue, forKey: .status)
        try object.encode(state.status == .reachable, forKey: .reachable)
        try object.encode(state.reasonCode, forKey: .reason)
        try object.encode(isPending ? nil : "\(path.flags)", forKey: .flags)
        try object.encode(isPending ? nil : path.flags.names, forKey: .flagNames)
        try object.encode(isPending ? nil : path.flags.rawValue, forKey: .value)
        try object.encode(path.interface.map(JSONInterface.init), forKey: .interface)
        try object.encode(path.gateway?.description, forKey: .gateway)
        try object.encode(path.source?.description, forKey: .source)
        try object.encode(path.destination?.description, forKey: .destination)
        try object.encode(path.evidence.description, forKey: .evidence)
        try object.encode(path.flow.names, forKey: .flow)
        try object.encode(path.nextHop == .unknown ? nil : "\(path.nextHop)", forKey: .nextHop)
        try object.encode(path.mtu, forKey: .mtu)
        try object.encode(path.table, forKey: .table)
        try object.encode(state.addresses.map(\.description), forKey: .addresses)
    }

    var json: String {
        get throws(ToolError) { try jsonLine(self, of: target) }
    }
}

/// One object, without line breaks. `subject`: what it is about, for an error.
func jsonLine(_ record: some Encodable, of subject: String) throws(ToolError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
        return escapingControls(String(decoding: try encoder.encode(record), as: UTF8.self))
    } catch {
        throw ToolError("\(subject): \(error)")
    }
}

/// Escapes the control characters that JSON allows and a terminal obeys.
private func escapingControls(_ json: String) -> String {
    var escaped = ""
    for scalar in json.unicodeScalars {
        if scalar.isForTerminal {
            escaped += #"\u"# + padded(Int(scalar.value), to: 4, radix: 16)
        } else {
            escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}

extension ReachabilityReason {
    /// The reasons and their codes: words for programs, which never change.
    static let codes: [(reason: ReachabilityReason, code: String)] = [
        (.noRoute, "noRoute"), (.routeUnreachable, "routeUnreachable"), (.routeProhibited, "routeProhibited"),
        (.routeBlackhole, "routeBlackhole"), (.interfaceDown, "interfaceDown"), (.noCarrier, "noCarrier"),
        (.noSourceAddress, "noSourceAddress"), (.localAddressNotAssigned, "localAddressNotAssigned"),
        (.namePending, "namePending"), (.nameNotFound, "nameNotFound"), (.nameServerFailure, "nameServerFailure"),
        (.nameServerUnreachable, "nameServerUnreachable"), (.interfaceMissing, "interfaceMissing"),
    ]

    var code: String {
        ReachabilityReason.codes.first { $0.reason == self }?.code ?? "reason\(rawValue)"
    }
}

extension ReachabilityFlags {
    /// The names of the flags in the Swift API and in Apple's, in the order of the text.
    private static let names: [(flag: ReachabilityFlags, name: String)] = [
        (.reachable, "reachable"), (.transientConnection, "transientConnection"),
        (.connectionRequired, "connectionRequired"), (.connectionOnTraffic, "connectionOnTraffic"),
        (.connectionOnDemand, "connectionOnDemand"), (.interventionRequired, "interventionRequired"),
        (.isLocalAddress, "isLocalAddress"), (.isDirect, "isDirect"), (.isWWAN, "isWWAN"),
    ]

    var names: [String] {
        ReachabilityFlags.names.filter { contains($0.flag) }.map(\.name)
    }
}
