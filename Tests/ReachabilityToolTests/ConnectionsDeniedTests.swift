// SPDX-License-Identifier: MIT

#if Tool
import Glibc
import TestSupport
import Testing

/// Runs a command. In its first netlink request of this type and family, the byte at this offset gets another value: the
/// kernel replies as one without some module does.
private let alteringRequest = """
    import ctypes, os, signal, struct, sys
    SETOPTIONS, INFORMATION, NEXT_CALL, DETACH, TRACE_ME = 0x4200, 0x420e, 24, 17, 0
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    ptrace.restype = ctypes.c_long
    kind, family, offset, value = map(int, sys.argv[1:5])
    sendto = 44 if os.uname().machine == "x86_64" else 206

    child = os.fork()
    if child == 0:
        ptrace(TRACE_ME, 0, None, None)
        os.execvp(sys.argv[5], sys.argv[5:])
    os.waitpid(child, 0)
    ptrace(SETOPTIONS, child, None, 1)  # PTRACE_O_TRACESYSGOOD
    delivered = 0
    while True:
        ptrace(NEXT_CALL, child, None, delivered)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            sys.exit("there was no such request")
        stop = os.WSTOPSIG(status)
        delivered = 0 if stop & 0x80 or stop == signal.SIGTRAP else stop
        if not stop & 0x80:
            continue
        information = ctypes.create_string_buffer(80)
        ptrace(INFORMATION, child, 80, ctypes.cast(information, ctypes.c_void_p))
        number, _, request = struct.unpack_from("QQQ", information.raw, 24)
        if information.raw[0] != 1 or number != sendto:  # 1: the call begins
            continue
        memory = open(f"/proc/{child}/mem", "r+b", buffering=0)
        memory.seek(request)
        header = memory.read(17)
        if struct.unpack("IH", header[:6])[1] == kind and header[16] == family:
            memory.seek(request + offset)
            memory.write(bytes([value]))
            break
    ptrace(DETACH, child, None, None)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """

/// Keeps a connection.
private let loopback = """
    import signal, socket
    listener = socket.create_server(("127.0.0.1", 0))
    connection = socket.create_connection(listener.getsockname())
    print("ready", flush=True)
    signal.pause()
    """

@Suite("Connections that may not be listed", .limited)
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
        // SOCK_DIAG_BY_FAMILY for IPv4, and a protocol that nothing has.
        let altering = ["python3", "-c", alteringRequest, "20", "\(AF_INET)", "17", "253"]
        let ended = try await RunningProcess(altering + [Tool.path, "connections"]).end()
        #expect(ended.status == 77 && ended.output == "")
        #expect(
            ended.errors == "reachability: connections: the kernel's module tcp_diag is missing (modprobe tcp_diag)\n")
    }
    @Test("A kernel without policy rules has none for marks", .namespace)
    func withoutRules() async throws {
        let namespace = try await Namespace("link set lo up")
        let connected = try namespace.start(["python3", "-c", loopback])
        #expect(try await connected.nextLine() == "ready")
        // RTM_GETRULE for all families, and a type that rtnetlink does not have. With CAP_NET_ADMIN, marks are known.
        let altering = ["python3", "-c", alteringRequest, "34", "\(AF_UNSPEC)", "4", "255"]
        let unprivileged = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"]
        let ended = try await namespace.start(altering + unprivileged + [Tool.path, "connections", "--all"]).end()
        #expect(ended.status == 0 && ended.errors == "")
        #expect(ended.output.contains("  viable  ") && !ended.output.contains("as if unmarked"))
        connected.send(SIGKILL)
    }
}
#endif
