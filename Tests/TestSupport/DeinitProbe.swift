// SPDX-License-Identifier: MIT

/// Records its deinit. A test puts it into a closure to learn when the closure is released.
package final class DeinitProbe: Sendable {
    private let ended: Recorder<Void>

    package init(_ ended: Recorder<Void>) { self.ended = ended }
    deinit { ended.record(()) }
}
