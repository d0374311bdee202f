// SPDX-License-Identifier: MIT

#if Tool
import Foundation

/// A line that --json prints.
struct JSONLine: Decodable {
    struct Interface: Decodable {
        var name: String
        var index: Int
        var type: String
    }

    static let keys = [
        "addresses", "destination", "evidence", "flagNames", "flags", "flow", "gateway", "interface", "mtu", "nextHop",
        "reachable", "reason", "schema", "source", "status", "table", "target", "time", "value",
    ]

    var target: String
    var time: Date
    var schema: Int
    var status, evidence: String
    var flags: String?
    var flagNames: [String]?
    var addresses, flow: [String]
    var value, mtu, table: UInt32?
    var reachable: Bool
    var reason: String?
    var interface: Interface?
    var gateway, source, destination: String?

    init(_ line: some StringProtocol) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            return try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
        }
        self = try decoder.decode(JSONLine.self, from: Data(line.utf8))
    }
}
#endif
