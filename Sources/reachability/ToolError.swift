// SPDX-License-Identifier: MIT

import CReachability

/// The exit statuses, besides 0. Those above 1 are of sysexits.h.
enum ExitStatus {
    /// A target is not reachable, or a wait has timed out.
    static let unmet: Int32 = 1
    /// Wrong usage, or a text that cannot be a target. The argument parser has the same status.
    static let badInput: Int32 = 64
    /// A file with targets, or a network namespace, cannot be opened.
    static let noInput: Int32 = 66
    /// The kernel cannot be queried.
    static let noKernel: Int32 = 70
    /// Standard output or a file cannot be written.
    static let noOutput: Int32 = 74
    /// The right to enter a network namespace is missing.
    static let noPermission: Int32 = 77
}

/// Why a command, or one of its targets, cannot go on.
struct ToolError: Error {
    var message: String
    /// A value of SCError().
    var status: Int32
    var exitStatus: Int32

    /// Input that the tool itself refuses.
    init(_ message: String) {
        self.message = message
        status = Int32(__kSCStatusInvalidArgument)
        exitStatus = ExitStatus.badInput
    }

    /// The library's last error; `subject` is what it happened to.
    init(of subject: String) {
        self.init(of: subject, status: SCError())
    }

    init(of subject: String, status: Int32) {
        let detail = String(cString: SCErrorDetail()).drop { $0 != ":" }.dropFirst(2)
        message = "\(subject): \(detail.isEmpty ? String(cString: SCErrorString(status)) : String(detail))"
        self.status = status
        exitStatus = status == __kSCStatusInvalidArgument ? ExitStatus.badInput : ExitStatus.noKernel
    }

    /// A file that cannot be read.
    init(reading subject: String, error: Int32) {
        self.init(of: subject, status: error)
        exitStatus = ExitStatus.noInput
    }

    /// A file that cannot be written.
    init(writing subject: String, error: Int32) {
        self.init(of: subject, status: error)
        exitStatus = ExitStatus.noOutput
    }
}
