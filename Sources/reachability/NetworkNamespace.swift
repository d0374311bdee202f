// SPDX-License-Identifier: MIT

import Glibc

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
