// SPDX-License-Identifier: MIT

import Glibc
import TestSupport
import Testing

/// Runs a command. In its first request for sockets, an unused protocol takes the place of TCP: the kernel has no module
/// for it, and replies as a kernel without tcp_diag does.
private let withoutModule = """
    import ctypes, os, signal, struct, sys
    SETOPTIONS, INFORMATION, NEXT_CALL, DETACH, TRACE_ME = 0x4200, 0x420e, 24, 17, 0
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    ptrace.restype = ctypes.c_long
    LIST_SOCKETS = 20  # SOCK_DIAG_BY_FAMILY
    UNUSED = 253
    sendto = 44 if os.uname().machine == "x86_64" else 206

    child = os.fork()
    if child == 0:
        ptrace(TRACE_ME, 0, None, None)
        os.execv(sys.argv[1], sys.argv[1:])
    os.waitpid(child, 0)
    ptrace(SETOPTIONS, child, None, 1)  # PTRACE_O_TRACESYSGOOD
    memory = open(f"/proc/{child}/mem", "r+b", buffering=0)
    delivered = 0
    while True:
        ptrace(NEXT_CALL, child, None, delivered)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            sys.exit("it has not asked for sockets")
        stop = os.WSTOPSIG(status)
        delivered = 0 if stop & 0x80 or stop == signal.SIGTRAP else stop
        if not stop & 0x80:
            continue
        information = ctypes.create_string_buffer(80)
        ptrace(INFORMATION, child, 80, ctypes.cast(information, ctypes.c_void_p))
        number, _, request = struct.unpack_from("QQQ", information.raw, 24)
        if information.raw[0] != 1 or number != sendto:  # 1: the call begins
            continue
        memory.seek(request)
        if struct.unpack("IH", memory.read(6))[1] == LIST_SOCKETS:
            memory.seek(request + 17)
            memory.write(bytes([UNUSED]))
            break
    ptrace(DETACH, child, None, None)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """

@Suite("Connections that may not be listed", .tool, .patient)
struct ConnectionsDeniedTests {
    @Test("A sandbox that denies netlink is named", arguments: [EPERM, EACCES, EAFNOSUPPORT, ENOSYS])
    func denied(error: Int32) async throws {
        let ended = await #expect(processExitsWith: .exitCode(77), observing: [\.standardErrorContent]) {
            [error = error as Int32] in
            try SystemCallFilter.denying(socketsOf: [AF_NETLINK], with: error).install()
            let arguments: [UnsafeMutablePointer<CChar>?] = [strdup(Tool.path), strdup("connections"), nil]
            execv(Tool.path, arguments)
        }
        let errors = String(decoding: try #require(ended).standardErrorContent, as: UTF8.self)
        #expect(
            errors.hasSuffix(
                "reachability: connections: this process may not list them: a sandbox must allow sockets of AF_NETLINK (sock_diag(7))\n"
            ))
    }

    @Test("The kernel's module for TCP is named if it is missing")
    func withoutTCP() async throws {
        let ended = try await RunningProcess(["python3", "-c", withoutModule, Tool.path, "connections"]).end()
        #expect(ended.status == 77 && ended.output == "")
        #expect(
            ended.errors == "reachability: connections: the kernel's module tcp_diag is missing (modprobe tcp_diag)\n")
    }
}
