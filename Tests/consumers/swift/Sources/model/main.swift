// A model for views: they read it on the main actor, and are told when it changes.

import NetworkReachability
import Observation

@MainActor
struct Banner {
    let model: ReachabilityModel

    /// nil: there is nothing to show.
    var text: String? { model.path.isReachable ? nil : "Offline: \(model.path)" }

    /// What SwiftUI does for a view.
    func draw(redraw: @escaping @Sendable () -> Void) -> String? {
        withObservationTracking {
            text
        } onChange: {
            redraw()
        }
    }
}

let script = ReachabilityScript()
let banner = Banner(model: ReachabilityModel(ReachabilityMonitor(script: script), on: .main))
let (changes, change) = AsyncStream.makeStream(of: Void.self)
guard banner.draw(redraw: { change.yield() }) == nil else { fatalError("a banner while reachable") }
script.play(.unreachable(.noCarrier))
for await _ in changes { break }
guard banner.text == "Offline: not reachable: no carrier" else { fatalError(banner.text ?? "no banner") }
