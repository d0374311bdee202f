// SPDX-License-Identifier: MIT

internal import Synchronization

/// What happened elsewhere, in order, to be awaited.
package final class Recorder<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation
    private let recorded = Mutex(0)

    package init() {
        (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    }

    /// How many were recorded, awaited or not.
    package var count: Int { recorded.withLock { $0 } }

    package func record(_ element: Element) {
        recorded.withLock { $0 += 1 }
        continuation.yield(element)
    }

    /// Waits for the next one; nil when the test is out of time.
    package func next() async -> Element? {
        for await element in stream { return element }
        return nil
    }

    /// All that nobody has awaited; nothing is recorded any more.
    package func rest() async -> [Element] {
        continuation.finish()
        return await stream.reduce(into: []) { $0.append($1) }
    }
}
