// SPDX-License-Identifier: MIT

/// A value of JSON. A container that is being filled is a reference to it.
final class JSONNode {
    enum Value {
        case literal(String)
        case string(String)
        case array([JSONNode])
        case object([String: JSONNode])
    }

    var value = Value.object([:])

    func append() -> JSONNode {
        let node = JSONNode()
        guard case .array(let nodes) = value else { preconditionFailure("two kinds of containers for one value") }
        value = .array(nodes + [node])
        return node
    }

    func append(_ key: String) -> JSONNode {
        let node = JSONNode()
        guard case .object(var nodes) = value else { preconditionFailure("two kinds of containers for one value") }
        nodes[key] = node
        value = .object(nodes)
        return node
    }
}

struct JSONNodeEncoder: Encoder, SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func put(_ value: some Encodable, in node: JSONNode) throws {
        switch value {
        case let text as String: node.value = .string(text)
        case let flag as Bool: node.value = .literal("\(flag)")
        case let number as any BinaryInteger: node.value = .literal("\(number)")
        case is any BinaryFloatingPoint:
            let context = EncodingError.Context(codingPath: codingPath, debugDescription: "a number with a fraction")
            throw EncodingError.invalidValue(value, context)
        default: try value.encode(to: JSONNodeEncoder(node: node, codingPath: codingPath))
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONObjectContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.value = .array([])
        return JSONArrayContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { node.value = .literal("null") }
    func encode(_ value: some Encodable) throws { try put(value, in: node) }
}

private struct JSONObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONNodeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func child(_ key: any CodingKey) -> JSONNodeEncoder {
        JSONNodeEncoder(node: encoder.node.append(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { child(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try child(key).encode(value) }
    func superEncoder(forKey key: Key) -> any Encoder { child(key) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<
        Nested
    > {
        child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { child(key).unkeyedContainer() }

    private struct SuperKey: CodingKey {
        var stringValue: String { "super" }
        var intValue: Int? { nil }
        init() {}
        init?(stringValue: String) { nil }
        init?(intValue: Int) { nil }
    }

    func superEncoder() -> any Encoder { child(SuperKey()) }
}

private struct JSONArrayContainer: UnkeyedEncodingContainer {
    let encoder: JSONNodeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    var count: Int { if case .array(let nodes) = encoder.node.value { nodes.count } else { 0 } }

    private func child() -> JSONNodeEncoder { JSONNodeEncoder(node: encoder.node.append(), codingPath: codingPath) }

    func encodeNil() { child().encodeNil() }
    func encode(_ value: some Encodable) throws { try child().encode(value) }
    func superEncoder() -> any Encoder { child() }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        child().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }
}
