// SPDX-License-Identifier: MIT

import Glibc
import ReachabilityArguments

/// The arguments of the process, without its name.
enum Arguments {
    static var all: [String] {
        var count: Int32 = 0
        guard let values = reachability_arguments(&count) else { return [] }
        return (0..<Int(count)).dropFirst().compactMap { index in values[index].map { String(cString: $0) } }
    }

    /// The environment, an entry for each variable. Not as strings: the bytes need not be UTF-8.
    static var environment: [UnsafeMutablePointer<CChar>] {
        guard let entries = reachability_environment() else { return [] }
        return sequence(first: entries) { $0 + 1 }.lazy.map(\.pointee).prefix { $0 != nil }.compactMap { $0 }
    }
}

/// Standard output, without a buffer: the reader sees a change at once.
enum StandardOutput {
    enum WriteResult {
        case written, readerGone
    }

    /// Only the main thread writes.
    nonisolated(unsafe) private(set) static var result = WriteResult.written

    static func writeLine(_ line: String) throws(ToolError) {
        try write(line + "\n")
    }

    /// A missing reader is no error: the command goes on and writes no more.
    static func write(_ text: String) throws(ToolError) {
        guard result == .written else { return }
        switch writeAll(text, to: STDOUT_FILENO) {
        case 0: return
        case EPIPE: result = .readerGone
        // A terminal that was closed. For a file it is a failure: its reader would take a part for the whole.
        case EIO where isCharacterDevice(STDOUT_FILENO): result = .readerGone
        case let error: throw ToolError(writing: "standard output", error: error)
        }
    }
}

private func isCharacterDevice(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
}

/// Standard error, for people. There is no place to report a failed write.
enum StandardError {
    static func write(_ text: String) {
        writeLine("reachability: \(text)")
    }

    static func writeLine(_ line: String) {
        _ = writeAll(line + "\n", to: STDERR_FILENO)
    }
}

/// Opens the descriptors below 3 that are closed. Otherwise the next socket gets one, and our output goes into it.
enum StandardDescriptors {
    static func open() {
        var descriptor: Int32
        repeat {
            descriptor = Glibc.open("/dev/null", O_RDWR)
        } while descriptor >= 0 && descriptor <= STDERR_FILENO
        if descriptor > STDERR_FILENO { close(descriptor) }
    }
}

/// 0, or an errno.
func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            } else if count == 0 {
                return EIO
            } else if errno == EAGAIN {
                // The terminal or pipe is shared with a program that made it non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

/// Makes a network namespace that of this process. `text` is a name as of ip-netns(8), or a path.
///
/// Only before the first target: a target belongs to the namespace in which it is made.
func enterNetworkNamespace(_ text: String) throws(ToolError) {
    let isPath = text.contains("/")
    let path = isPath ? text : "/run/netns/\(text)"
    let subject = "network namespace '\(text)'"
    if text.isEmpty || text.utf8.contains(0) { throw ToolError("\(subject): is neither a name nor a path") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw refusal(of: subject, errno) }
    defer { close(descriptor) }
    if setns(descriptor, newNetwork) != 0 { throw refusal(of: subject, errno) }
}

private func refusal(of subject: String, _ error: Int32) -> ToolError {
    switch error {
    case EPERM, EACCES:
        var refusal = ToolError("\(subject): no permission to enter it; CAP_SYS_ADMIN is needed")
        refusal.exitStatus = ExitStatus.noPermission
        return refusal
    case EINVAL:
        var refusal = ToolError("\(subject): the file is not a network namespace")
        refusal.exitStatus = ExitStatus.noInput
        return refusal
    default:
        return ToolError(reading: subject, error: error)
    }
}

/// Declared here, because Glibc's header hides it from Swift.
@_silgen_name("setns")
private func setns(_ descriptor: Int32, _ kind: Int32) -> Int32
/// CLONE_NEWNET.
private let newNetwork: Int32 = 0x4000_0000
