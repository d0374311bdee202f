// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Glibc
internal import Synchronization
package import Testing

/// The only name server of a namespace, on 127.0.0.1. It holds requests back until `sendReplies()`. The resolver's
/// time-out is longer than a test. Every reply is NXDOMAIN.
package final class NameServer: Sendable {
    private struct Request {
        var bytes: [UInt8]
        var sender: sockaddr_in
    }

    private struct State {
        var heldRequests: [Request] = []
        var repliesAtOnce = false
    }

    private let requests = Recorder<Void>()
    private let state = Mutex(State())
    private let socket: Int32
    /// A constant. Dispatch's own lock guards the source.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Whether 127.0.0.1 is the only name server of this process and its children.
    package static var isConfigured: Bool {
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

    package func waitForRequest() async {
        await requests.next()
    }

    /// Replies to the requests held back, and from now on to each request at once.
    package func sendReplies() {
        let requests = state.withLock { state in
            state.repliesAtOnce = true
            return state.heldRequests
        }
        for request in requests { reply(to: request) }
    }

    private func receive() {
        var request = Request(bytes: Array(repeating: 0, count: 512), sender: sockaddr_in())
        let count = withSocketAddress(&request.sender) { sender, length in
            var length = length
            return recvfrom(socket, &request.bytes, request.bytes.count, 0, sender, &length)
        }
        guard count >= 12 else { return }
        request.bytes.removeSubrange(count...)
        let repliesAtOnce = state.withLock { state in
            if !state.repliesAtOnce { state.heldRequests.append(request) }
            return state.repliesAtOnce
        }
        if repliesAtOnce { reply(to: request) }
        requests.record(())
    }

    private func reply(to request: Request) {
        var message = request
        // The flags of a response: QR, RA, and NXDOMAIN.
        message.bytes[2] |= 0x80
        message.bytes[3] = 0x83
        let count = withSocketAddress(&message.sender) { sender, length in
            sendto(socket, message.bytes, message.bytes.count, 0, sender, length)
        }
        #expect(count == message.bytes.count)
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
            if: Namespace.canEnter && NameServer.isConfigured,
            "this process has other name servers: run the tests with Tests/swift")
    }
}
