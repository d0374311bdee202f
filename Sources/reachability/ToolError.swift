// SPDX-License-Identifier: MIT

import CReachability

/// The exit statuses, besides the argument parser's 64 for wrong usage.
enum ExitStatus {
    static let unmet: Int32 = 1
    static let unusable: Int32 = 70
}

/// A target, the kernel or standard output cannot be used.
struct ToolError: Error {
    var message: String
    /// A value of SCError().
    var status: Int32

    /// Input that the tool itself refuses.
    init(_ message: String) {
        self.message = message
        status = Int32(__kSCStatusInvalidArgument)
    }

    /// The library's last error; `subject` is what it happened to.
    init(of subject: String) {
        self.init(of: subject, status: SCError())
    }

    init(of subject: String, status: Int32) {
        self.status = status
        message = "\(subject): \(String(cString: SCErrorString(status)))"
    }
}
