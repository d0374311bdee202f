// SPDX-License-Identifier: MIT

import Glibc

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
        case EPIPE, EIO: result = .readerGone
        case let error: throw ToolError(writing: "standard output", error: error)
        }
    }
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
