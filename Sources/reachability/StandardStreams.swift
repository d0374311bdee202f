// SPDX-License-Identifier: MIT

import Glibc

/// Standard output, a line at a time: whoever reads it sees a change when it happens.
enum StandardOutput {
    enum Result {
        case written, readerGone
    }

    /// Only the main thread writes.
    nonisolated(unsafe) private(set) static var result = Result.written

    static func writeLine(_ line: String) throws(ToolError) {
        try write(line + "\n")
    }

    /// A reader that has gone is no error: nothing is written any more, and what was asked for goes on.
    static func write(_ text: String) throws(ToolError) {
        guard result == .written else { return }
        switch writeAll(text, to: STDOUT_FILENO) {
        case 0: return
        case EPIPE, EIO: result = .readerGone
        case let error: throw ToolError(of: "standard output", status: error)
        }
    }
}

/// Standard error, for people. Nowhere is left to tell of a failure to write there.
enum StandardError {
    static func write(_ text: String) {
        writeLine("reachability: \(text)")
    }

    static func writeLine(_ line: String) {
        _ = writeAll(line + "\n", to: STDERR_FILENO)
    }
}

/// A descriptor below 3 that was closed would be given to the next socket, and what we print would be sent into it.
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
private func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
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
