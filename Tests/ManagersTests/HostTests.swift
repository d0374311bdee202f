// SPDX-License-Identifier: MIT

import NetworkReachability
import ReachabilityInternals
import Testing

@Suite("Hosts")
struct HostTests {
    private static let pieces = ["a", "é", "\0", "://", "://\u{301}", "/", " ", "\u{3000}", "\r\n", "\u{FFFE}"]
    /// Every two of the pieces, in both orders, and with more than fits.
    private static let hosts = pieces.flatMap { one in
        ["", "b", String(repeating: "c", count: 1024)].flatMap { middle in pieces.map { one + middle + $0 } }
    }

    @Test("What is wrong with a text as a host is the same for the managers and for a monitor")
    func flaws() throws {
        for host in Self.hosts + [""] {
            let flaw = HostNameFlaw(of: host)
            do {
                _ = try ReachabilityMonitor(host: host)
                #expect(flaw == nil, "\(host.debugDescription)")
            } catch {
                #expect(error.code == .invalidHost && error.detail == flaw?.text, "\(host.debugDescription)")
            }
        }
        #expect(Set((Self.hosts + [""]).compactMap(HostNameFlaw.init(of:))).count == 7)
    }
}
