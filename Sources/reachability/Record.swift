// SPDX-License-Identifier: MIT

import CReachability
import FoundationEssentials

/// A state as one object of JSON. Every key is always there: null says that there is none.
struct Record: Encodable {
    var target: String
    var time: Date
    var state: State

    private enum Key: String, CodingKey {
        case target, time, flags, value, reachable, reason, interface, gateway, source, destination, evidence
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(target, forKey: .target)
        try object.encode(time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), forKey: .time)
        try object.encode(state.flagsText, forKey: .flags)
        try object.encode(state.flags.rawValue, forKey: .value)
        try object.encode(state.isReachable, forKey: .reachable)
        try object.encode(state.reasonText, forKey: .reason)
        try object.encode(state.interface, forKey: .interface)
        try object.encode(state.gateway?.text, forKey: .gateway)
        try object.encode(state.source?.text, forKey: .source)
        try object.encode(state.destination?.text, forKey: .destination)
        try object.encode(state.evidence, forKey: .evidence)
    }

    var json: String {
        get throws(Failure) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return String(decoding: try encoder.encode(self), as: UTF8.self)
            } catch {
                throw Failure("\(target): \(error)")
            }
        }
    }
}
