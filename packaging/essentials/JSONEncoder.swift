// SPDX-License-Identifier: MIT
// `make tool` compiles these files to a module named FoundationEssentials, and the tool and the argument parser with it. They
// use two declarations of the toolchain's module of that name, and with it the program would be 6 MB larger: Swift's
// metadata keeps all types of a module that is linked statically, used or not.
//
// It must never have a declaration that behaves in another way than the toolchain's. `Tests/world/tool-build` compares.

/// JSON text of a value. The keys of an object are always sorted.
open class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let prettyPrinted = OutputFormatting(rawValue: 1 << 0)
        public static let sortedKeys = OutputFormatting(rawValue: 1 << 1)
        public static let withoutEscapingSlashes = OutputFormatting(rawValue: 1 << 3)
    }

    open var outputFormatting: OutputFormatting = []

    public init() {}

    open func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        let node = JSONNode()
        try JSONNodeEncoder(node: node, codingPath: []).put(value, in: node)
        return Array(JSONWriter(outputFormatting).text(of: node).utf8)
    }
}

extension String {
    public enum Encoding { case utf8 }

    public init?(data: [UInt8], encoding: Encoding) { self.init(validating: data, as: UTF8.self) }
}

/// An error that describes itself.
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { nil }
}
