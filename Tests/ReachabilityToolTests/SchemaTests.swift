// SPDX-License-Identifier: MIT

#if Tool
import Foundation
import TestSupport
import Testing

/// A JSON schema, with the words that docs/reachability.schema.json uses.
private struct Schema {
    let words: [String: Any]

    static let known: Set = [
        "$schema", "title", "description", "type", "required", "properties", "items", "const", "enum", "pattern",
        "minimum",
    ]

    init(_ value: Any?) throws {
        words = try #require(value as? [String: Any])
        #expect(Set(words.keys).isSubset(of: Schema.known), "a word that this test does not check")
    }

    /// What is wrong with a value, or nil.
    func flaw(of value: Any, at path: String = "") throws -> String? {
        if let types = words["type"] as? [String] ?? (words["type"] as? String).map({ [$0] }) {
            guard types.contains(Schema.type(of: value)) else { return "\(path): is no \(types)" }
        }
        if value is NSNull { return nil }
        let allowed = words["enum"] as? [NSObject] ?? (words["const"] as? NSObject).map { [$0] }
        if let allowed, !allowed.contains(where: { $0.isEqual(value) }) { return "\(path): is not one of \(allowed)" }
        if let pattern = words["pattern"] as? String, let text = value as? String,
            try text.firstMatch(of: Regex(pattern)) == nil
        {
            return "\(path): '\(text)' does not match"
        }
        if let minimum = words["minimum"] as? Int, let number = value as? Int, number < minimum {
            return "\(path): \(number) is too small"
        }
        if let object = value as? [String: Any] {
            for key in words["required"] as? [String] ?? [] where object[key] == nil { return "\(path): no \(key)" }
            for (key, schema) in words["properties"] as? [String: Any] ?? [:] {
                if let flaw = try object[key].flatMap({ try Schema(schema).flaw(of: $0, at: "\(path).\(key)") }) {
                    return flaw
                }
            }
        }
        if let items = words["items"], let array = value as? [Any] {
            return try array.compactMap { try Schema(items).flaw(of: $0, at: "\(path)[]") }.first
        }
        return nil
    }

    private static func type(of value: Any) -> String {
        switch value {
        case is NSNull: "null"
        case let number as NSNumber where String(cString: number.objCType) == "c": "boolean"
        case is Int: "integer"
        case is String: "string"
        case is [Any]: "array"
        default: "object"
        }
    }
}

@Suite("The schema of --json", .namespace, .limited)
struct SchemaTests {
    private func schema() throws -> [String: Any] {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let data = try Data(contentsOf: URL(fileURLWithPath: root + "/docs/reachability.schema.json"))
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private func object(_ line: some StringProtocol) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test("Lines of each status agree with the schema, which has exactly their keys", .nameServer)
    func lines() async throws {
        let schema = try schema()
        let namespace = try await Namespace(.gateway + "\nroute add prohibit 198.51.100.0/24")
        let server = try NameServer(in: namespace)
        let ended = try await namespace.run(
            "check", "--json", "--timeout", "0.1", "default", "192.0.2.1", "127.0.0.1", "::1", "198.51.100.7",
            "10.0.0.2,192.0.2.1", "fe80::1%none", "host.invalid")
        let objects = try ended.output.split(separator: "\n").map(object)
        #expect(objects.count == 8)
        #expect(Set(objects.compactMap { $0["status"] as? String }) == ["reachable", "unreachable", "pending"])
        let properties = try #require(schema["properties"] as? [String: Any])
        for object in objects {
            #expect(try Schema(schema).flaw(of: object) == nil)
            #expect(Set(object.keys) == Set(properties.keys))
        }
        #expect(Set(try #require(schema["required"] as? [String])) == Set(properties.keys))
        withExtendedLifetime(server) {}
    }

    @Test("Other values do not agree with the schema")
    func flaws() async throws {
        let schema = try Schema(schema())
        let line = try await object(Namespace(.gateway).run("check", "--json", "192.0.2.1").output)
        #expect(try schema.flaw(of: line) == nil)
        let wrong: [(String, Any)] = [
            ("schema", 2), ("time", "now"), ("status", "maybe"), ("reachable", 1), ("flags", 2), ("flagNames", ["A b"]),
            ("interface", ["name": "e0"]), ("addresses", NSNull()), ("mtu", 0), ("value", -1), ("evidence", "guess"),
        ]
        for (key, value) in wrong {
            #expect(try schema.flaw(of: line.merging([key: value]) { $1 }) != nil, "\(key)")
            #expect(try schema.flaw(of: line.filter { $0.key != key }) != nil, "\(key)")
        }
    }
}
#endif
