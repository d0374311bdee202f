// SPDX-License-Identifier: MIT

internal import Glibc
internal import Testing

/// What this process holds.
package struct Holdings: Equatable {
    /// The number of each, and what it is open for: "5 anon_inode:[timerfd]".
    package let descriptors: Set<String>
    package let threads: Set<String>

    package init() throws {
        descriptors = try Set(
            Holdings.entries("/proc/self/fd").compactMap { number in
                var file = [CChar](repeating: 0, count: 64)
                // -1: no descriptor, or it has been closed, as that of the folder itself.
                let length = readlink("/proc/self/fd/\(number)", &file, file.count)
                guard length >= 0 else { return nil }
                return "\(number) " + String(decoding: file.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            })
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

    /// The bytes that malloc(3) has given out, in all threads. Sanitizers have allocators of their own: 0.
    package static func memory() throws -> Int {
        var (text, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        let stream = try #require(open_memstream(&text, &size))
        let status = malloc_info(0, stream)
        fclose(stream)
        defer { free(text) }
        try #require(status == 0)
        // The last lines are sums: `<total type="fast" count="0" size="0"/>`, `<system type="current" size="135168"/>`.
        var sizes: [Substring: Int] = [:]
        for line in String(cString: try #require(text)).split(separator: "\n") {
            let words = line.split(separator: "\"")
            guard words.count > 3, let size = Int(words[words.count - 2]) else { continue }
            sizes[words[0] + words[1]] = size
        }
        let free = (sizes["<total type=fast"] ?? 0) + (sizes["<total type=rest"] ?? 0)
        return (sizes["<system type=current"] ?? 0) + (sizes["<total type=mmap"] ?? 0) - free
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

/// Declared here, because Glibc's module does not have malloc.h.
@_silgen_name("malloc_info")
private func malloc_info(_ options: Int32, _ stream: UnsafeMutablePointer<FILE>) -> Int32
