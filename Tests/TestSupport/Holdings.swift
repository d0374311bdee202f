// SPDX-License-Identifier: MIT

internal import Glibc
internal import Testing

/// What this process holds.
package struct Holdings: Equatable {
    package let descriptors: Set<String>
    package let threads: Set<String>

    package init() throws {
        descriptors = try Set(Holdings.entries("/proc/self/fd"))
        threads = try Set(Holdings.entries("/proc/self/task"))
    }

    /// The threads with this name, "reachability". The kernel keeps 15 bytes of it.
    package static func threads(named prefix: String) throws -> [String] {
        try entries("/proc/self/task").compactMap { thread in
            // nil: the thread has ended.
            guard let file = fopen("/proc/self/task/\(thread)/comm", "re") else { return nil }
            defer { fclose(file) }
            var bytes: [UInt8] = []
            while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
            let name = String(decoding: bytes, as: UTF8.self)
            return name.hasPrefix(prefix) ? name : nil
        }
    }

    private static func entries(_ path: String) throws -> [String] {
        let folder = try #require(opendir(path))
        defer { closedir(folder) }
        var entries: [String] = []
        while let entry = readdir(folder) {
            withUnsafeBytes(of: entry.pointee.d_name) {
                entries.append(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self))
            }
        }
        return entries
    }
}
