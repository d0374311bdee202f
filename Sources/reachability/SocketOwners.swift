// SPDX-License-Identifier: MIT

import Glibc

/// Which process has a socket, as far as /proc shows it to this user.
struct SocketOwners {
    struct Process: Encodable {
        let pid: Int32
        let name: String
    }

    private var processes: [UInt64: Process] = [:]

    init() {}

    /// Reads the descriptors of all processes. Of several processes with one socket, one counts.
    static func all() -> SocketOwners {
        var owners = SocketOwners()
        for pid in names(in: "/proc").lazy.compactMap({ Int32($0) }) {
            let inodes = names(in: "/proc/\(pid)/fd").compactMap { inode(of: "/proc/\(pid)/fd/\($0)") }
            guard !inodes.isEmpty else { continue }
            let process = Process(pid: pid, name: name(of: pid))
            for inode in inodes { owners.processes[inode] = process }
        }
        return owners
    }

    func owner(of inode: UInt64) -> Process? { processes[inode] }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// "socket:[1234]".
    private static func inode(of path: String) -> UInt64? {
        let link = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let length = buffer.baseAddress.map { readlink(path, $0, buffer.count) } ?? -1
            return length < 0
                ? "" : String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        guard link.hasPrefix("socket:[") else { return nil }
        return UInt64(link.dropFirst("socket:[".count).dropLast())
    }

    private static func name(of pid: Int32) -> String {
        let descriptor = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let length = read(descriptor, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(length, 0)).prefix { $0 != 10 }, as: UTF8.self)
        }
    }
}
