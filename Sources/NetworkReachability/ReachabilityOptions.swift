// SPDX-License-Identifier: MIT

#if os(Linux)
/// What else a monitor is bound to, and how it tells.
public struct ReachabilityOptions: Sendable, Hashable {
    /// Count only routes out of this interface. It need not exist yet: it is followed by its name.
    public var interface: String?
    /// The mark that the program's sockets carry (SO_MARK), which routing rules may ask for; 0: none.
    public var routingMark: UInt32
    /// For links that flap: iterators and observers are told of a change when nothing has changed for so long, and of
    /// none where everything is as it was again. A target that never comes to rest is told of after ten times as
    /// long. Zero, or less: at once. ``ReachabilityMonitor/path`` does not wait.
    public var settleTime: Duration

    public init(interface: String? = nil, routingMark: UInt32 = 0, settleTime: Duration = .zero) {
        self.interface = interface
        self.routingMark = routingMark
        self.settleTime = settleTime
    }
}
#endif
