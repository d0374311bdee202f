// SPDX-License-Identifier: MIT

// These imports, and no other, as on Apple's platforms.
import Foundation
import NWReachability
import Synchronization
import Testing

@Observable
private final class Connection {
    private(set) var isConnected = false

    func follow(_ path: NWPath) {
        isConnected = path.status == .satisfied
    }
}

@Suite("A model of a path")
struct ObservableTests {
    @Test("A class is @Observable with the imports of Foundation and NWReachability")
    func observed() {
        let model = Connection()
        let changes = Mutex(0)
        withObservationTracking {
            #expect(!model.isConnected)
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        let monitor = NWPathMonitor(script: NWPathMonitor.Script(.wifi))
        monitor.start(queue: .global())
        model.follow(monitor.currentPath)
        monitor.cancel()
        #expect(model.isConnected && changes.withLock { $0 } == 1)
    }
}
