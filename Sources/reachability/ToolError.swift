// SPDX-License-Identifier: MIT

import CReachability

/// What the process ends with. Usage errors end with 64, which is the argument parser's own.
enum ExitStatus {
    static let unmet: Int32 = 1
    static let unusable: Int32 = 70
}

/// The kernel or the input could not be used.
struct ToolError: Error {
    var message: String
    /// As SCError() has it.
    var status: Int32

    /// Input that we refuse ourselves.
    init(_ message: String) {
        self.message = message
        status = Int32(__kSCStatusInvalidArgument)
    }

    /// The library's last error, told of `subject`.
    init(of subject: String) {
        self.init(of: subject, status: SCError())
    }

    init(of subject: String, status: Int32) {
        self.status = status
        message = "\(subject): \(String(cString: SCErrorString(status)))"
    }
}
