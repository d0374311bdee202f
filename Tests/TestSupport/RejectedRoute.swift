// SPDX-License-Identifier: MIT

internal import Glibc

/// Adds and deletes a route that rejects packets to 198.51.100.1, or to another host of that network. Faster than
/// ip(8), as no process is started.
package enum RejectedRoute {
    /// Call it inside a namespace. Returns false if the kernel refuses.
    package static func add(host: UInt8 = 1) -> Bool { set(0x890B, host) }
    package static func delete(host: UInt8 = 1) -> Bool { set(0x890C, host) }

    private static func set(_ request: UInt, _ host: UInt8) -> Bool {
        // struct rtentry of net/route.h, which the Glibc module does not have.
        var route = (
            UInt(0), sockaddr(), sockaddr(), sockaddr(), UInt16(1 | 4 | 0x200), Int16(0), UInt(0), UInt(0), Int16(0),
            UInt(0), UInt(0), UInt(0), UInt16(0)
        )
        withUnsafeMutableBytes(of: &route.1) { $0.copyBytes(from: [2, 0, 0, 0, 198, 51, 100, host]) }
        withUnsafeMutableBytes(of: &route.3) { $0.copyBytes(from: [2, 0, 0, 0, 255, 255, 255, 255]) }
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(socket) }
        return ioctl(socket, request, &route) == 0
    }
}
