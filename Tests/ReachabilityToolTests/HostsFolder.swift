// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

/// What a process sees as /etc: a folder whose hosts file a test replaces as a whole.
final class HostsFolder {
    private let path: String

    init(hosts: String) throws {
        var template = Array("/tmp/reachability-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
        try write("hosts: files\n", to: "nsswitch.conf")
        try write("", to: "resolv.conf")
        try write("multi on\n", to: "host.conf")  // otherwise a name has only its first address
        try replace(hosts: hosts)
    }

    deinit {
        for name in ["nsswitch.conf", "resolv.conf", "host.conf", "hosts"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    func replace(hosts: String) throws {
        try write(hosts, to: "new")
        try #require(rename("\(path)/new", "\(path)/hosts") == 0)
    }

    /// Starts the tool with this folder as /etc.
    func start(in namespace: Namespace, _ arguments: String...) throws -> RunningProcess {
        try start(in: namespace, arguments)
    }

    func start(in namespace: Namespace, _ arguments: [String]) throws -> RunningProcess {
        let script = "mount --bind \"$0\" /etc && exec \"$@\""
        return try namespace.start(
            ["unshare", "--mount", "--user", "--map-root-user", "sh", "-c", script, path, Tool.path] + arguments)
    }

    private func write(_ text: String, to name: String) throws {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        defer { close(file) }
        var text = text
        let count = text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
        try #require(count == text.utf8.count)
    }
}
#endif
