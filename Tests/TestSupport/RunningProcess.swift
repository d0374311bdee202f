// SPDX-License-Identifier: MIT

package import Glibc
internal import Synchronization
package import Testing

/// The results of a process that has ended.
package struct Ended {
    /// The exit status, as a shell has it: 128 plus the signal's number, if a signal ended the process.
    package var status: Int32
    package var output: String
    package var errors: String
}

/// A running process. A test can wait for its output line by line. The process is killed when this object is released.
///
/// Not Foundation's `Process`: with the `readabilityHandler` of its pipes, several at the same time crash libdispatch
/// or hang.
package final class RunningProcess {
    package enum Input {
        case none
        case text(String)
        /// No input, but the end of the input comes only when this object is released.
        case open
    }

    package let identifier: pid_t

    private let child: Child
    private var lines: AsyncStream<String>.Iterator
    private let end: AsyncStream<(status: Int32, errors: String)>
    private var input: Int32?
    private let namespace: Namespace?

    /// `output`: a descriptor of the caller. nil: a pipe, which `nextLine` and `end` read.
    package init(
        _ command: [String], environment: [String: String] = [:], input: Input = .none, output: Int32? = nil,
        in namespace: Namespace? = nil
    ) throws {
        let command = (namespace?.entry ?? []) + command
        self.namespace = namespace
        var spawned: Spawned
        switch input {
        case .none: spawned = try spawn(command, environment, output: output)
        case .open: spawned = try spawn(command, environment, output: output, keepsInput: true)
        case .text(let text):
            spawned = try spawn(command, environment, output: output, keepsInput: true)
            var text = text
            // The text is smaller than a pipe's buffer, so this does not block.
            let count = text.withUTF8 { Glibc.write(spawned.input ?? -1, $0.baseAddress, $0.count) }
            try #require(count == text.utf8.count)
            spawned.closeInput()
        }
        self.input = spawned.input
        identifier = spawned.identifier
        let child = Child(identifier: spawned.identifier)
        self.child = child
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (end, ended) = AsyncStream.makeStream(of: (status: Int32, errors: String).self)
        self.lines = lines.makeAsyncIterator()
        self.end = end
        try startThread { [spawned] in
            let errors = readAll(output: spawned.output, errors: spawned.errors) { line.yield($0) }
            line.finish()
            ended.yield((child.wait(), errors))
            ended.finish()
        }
    }

    deinit {
        if let input { close(input) }
        child.send(SIGKILL)
    }

    /// Waits for the next line of the output. Fails if the output has ended.
    package func nextLine(_ location: SourceLocation = #_sourceLocation) async throws -> String {
        try #require(await lines.next(), "its output ended", sourceLocation: location)
    }

    package func send(_ signal: Int32) {
        child.send(signal)
    }

    /// Sends the signal, after which the process must end without an error.
    package func stop(_ signal: Int32 = SIGTERM, _ location: SourceLocation = #_sourceLocation) async throws {
        send(signal)
        #expect(try await end(location).status == 0, sourceLocation: location)
    }

    /// Waits until a signal has stopped the process.
    package func untilStopped() async throws {
        try await waitUntil { child.isStopped }
    }

    /// Waits for the end of the process. The output in the result is the part that `nextLine` has not returned.
    package func end(_ location: SourceLocation = #_sourceLocation) async throws -> Ended {
        var output = ""
        while let line = await lines.next() { output += line + "\n" }
        for await (status, errors) in end { return Ended(status: status, output: output, errors: errors) }
        return try #require(nil, "it did not end", sourceLocation: location)
    }
}

/// Sends signals only until waitpid(2): after that, another process may have the same identifier.
private final class Child: Sendable {
    private let identifier: pid_t
    private let isReaped = Mutex(false)

    init(identifier: pid_t) {
        self.identifier = identifier
    }

    func send(_ signal: Int32) {
        isReaped.withLock { isReaped in
            if !isReaped { kill(identifier, signal) }
        }
    }

    var isStopped: Bool {
        isReaped.withLock { isReaped in
            var information = siginfo_t()
            return !isReaped && waitid(P_PID, id_t(identifier), &information, WSTOPPED | WNOHANG | WNOWAIT) == 0
                && information.si_signo == SIGCHLD
        }
    }

    func wait() -> Int32 {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return isReaped.withLock { isReaped in
            isReaped = true
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
        }
    }
}

private struct Spawned {
    var identifier: pid_t
    var input: Int32?
    var output: Int32?
    var errors: Int32

    mutating func closeInput() {
        if let input { close(input) }
        input = nil
    }
}

/// Held while a process is spawned. So no process inherits the pipe of another one, which would never reach its end
/// then.
private let spawnLock = Mutex(())

private func spawn(
    _ command: [String], _ environment: [String: String], output: Int32?, keepsInput: Bool = false
) throws -> Spawned {
    try spawnLock.withLock { _ in
        func makePipe() throws -> [Int32] {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return ends
        }
        let inputs = try keepsInput ? makePipe() : [open("/dev/null", O_RDONLY | O_CLOEXEC)]
        let outputs = try output == nil ? makePipe() : []
        let errors = try makePipe()
        defer { ([inputs[0], errors[1]] + outputs.dropFirst()).forEach { close($0) } }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputs[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output ?? outputs[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)

        // Unblocks the signals, which the threads of tests block.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        posix_spawnattr_setsigmask(&attributes, &none)

        // env(1) sets the variables, and finds the command in the PATH.
        let words = ["env"] + environment.map { "\($0)=\($1)" } + command
        let arguments = words.map { $0.withCString { strdup($0) } } + [nil]
        defer { arguments.forEach { free($0) } }
        var identifier = pid_t()
        let error = posix_spawn(&identifier, "/usr/bin/env", &actions, &attributes, arguments, environ)
        try #require(error == 0, "\(command): \(String(cString: strerror(error)))")
        return Spawned(
            identifier: identifier, input: keepsInput ? inputs[1] : nil, output: outputs.first, errors: errors[0])
    }
}

/// Runs `body` on a new thread. For blocking calls: they must not block the few threads that all tests run on.
package func startThread(_ body: @escaping @Sendable () -> Void) throws {
    final class ThreadBody: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(ThreadBody(body))
    let error = pthread_create(
        &thread, nil,
        {
            Unmanaged<ThreadBody>.fromOpaque($0!).takeRetainedValue().body()
            return nil
        }, argument.toOpaque())
    if error == 0 { pthread_detach(thread) } else { argument.release() }
    try #require(error == 0)
}

/// Reads both descriptors to their ends and closes them. Returns the text of `errors`.
private func readAll(output: Int32?, errors: Int32, onLine: (String) -> Void) -> String {
    var texts: [[UInt8]] = [[], []]
    var descriptors = [output ?? -1, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while descriptors.contains(where: { $0.fd >= 0 }) {
        poll(&descriptors, 2, -1)
        for index in 0..<2 where descriptors[index].fd >= 0 && descriptors[index].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptors[index].fd, &bytes, bytes.count)
            if count > 0 {
                texts[index] += bytes[..<count]
            } else if count == 0 || errno != EINTR {
                close(descriptors[index].fd)
                descriptors[index].fd = -1
            }
        }
        while let end = texts[0].firstIndex(of: UInt8(ascii: "\n")) {
            onLine(String(decoding: texts[0][..<end], as: UTF8.self))
            texts[0].removeSubrange(...end)
        }
    }
    if !texts[0].isEmpty { onLine(String(decoding: texts[0], as: UTF8.self)) }
    return String(decoding: texts[1], as: UTF8.self)
}
