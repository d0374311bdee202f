// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Glibc
internal import Synchronization
package import Testing

/// A name server on 127.0.0.1 of a namespace, the only one that the resolver asks. It says nothing, which the resolver
/// endures for longer than a test takes; and once it is told to answer, that there is no such name.
package final class NameServer: Sendable {
    private struct Question {
        var bytes: [UInt8]
        var sender: sockaddr_in
    }

    private struct State {
        var held: [Question] = []
        var answers = false
    }

    private let asked = Recorder<Void>()
    private let state = Mutex(State())
    private let socket: Int32
    /// Dispatch sources may be used on any thread.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Whether the resolver of this process, and of those that it starts, asks such a server and nobody else.
    package static var isAsked: Bool {
        (try? lines(ofFile: "/etc/resolv.conf"))?.filter { $0.hasPrefix("nameserver") } == ["nameserver 127.0.0.1"]
    }

    package init(in namespace: Namespace) throws {
        let socket = try namespace.inside {
            let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            let socket = Glibc.socket(AF_INET, kind, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(53).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            let error = withSocketAddress(&address) { bind(socket, $0, $1) }
            try #require(error == 0)
            return socket
        }
        self.socket = socket
        source = DispatchSource.makeReadSource(fileDescriptor: socket)
        source.setEventHandler { [weak self] in self?.receive() }
        source.setCancelHandler { close(socket) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Waits until it is asked for something.
    package func untilAsked() async {
        await asked.next()
    }

    /// Answers what it was asked, and from now on at once.
    package func answer() {
        let held = state.withLock { state in
            state.answers = true
            return state.held
        }
        for question in held { answer(question) }
    }

    private func receive() {
        var question = Question(bytes: Array(repeating: 0, count: 512), sender: sockaddr_in())
        let count = withSocketAddress(&question.sender) { sender, length in
            var length = length
            return recvfrom(socket, &question.bytes, question.bytes.count, 0, sender, &length)
        }
        guard count >= 12 else { return }
        question.bytes.removeSubrange(count...)
        let answers = state.withLock { state in
            if !state.answers { state.held.append(question) }
            return state.answers
        }
        if answers { answer(question) }
        asked.record(())
    }

    private func answer(_ question: Question) {
        var question = question
        // An answer, of a server that recurses, with NXDOMAIN.
        question.bytes[2] |= 0x80
        question.bytes[3] = 0x83
        let count = withSocketAddress(&question.sender) { sender, length in
            sendto(socket, question.bytes, question.bytes.count, 0, sender, length)
        }
        #expect(count == question.bytes.count)
    }
}

private func withSocketAddress<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    withUnsafeMutableBytes(of: &address) {
        body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
}

extension Trait where Self == ConditionTrait {
    /// For tests with a `NameServer`.
    package static var nameServer: Self {
        .enabled(
            if: Namespace.isOpen && NameServer.isAsked, "this process asks other name servers: Tests/swift sees to that"
        )
    }
}
