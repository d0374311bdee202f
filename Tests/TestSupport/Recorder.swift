// SPDX-License-Identifier: MIT

internal import Synchronization

/// Records events in order, so that a test can wait for them.
package final class Recorder<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation
    private let recorded = Mutex(0)

    package init() {
        (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    }

    /// The number of all recorded elements.
    package var count: Int { recorded.withLock { $0 } }

    package func record(_ element: Element) {
        recorded.withLock { $0 += 1 }
        continuation.yield(element)
    }

    /// Waits for the next element. Returns nil at the test's time limit.
    package func next() async -> Element? {
        for await element in stream { return element }
        return nil
    }

    /// Returns the elements that `next()` has not returned, and ends the recording.
    package func rest() async -> [Element] {
        continuation.finish()
        return await stream.reduce(into: []) { $0.append($1) }
    }
}
