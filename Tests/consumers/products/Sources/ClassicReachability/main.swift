import ClassicReachability
import Foundation

let reachability = Reachability.forInternetConnection()
_ = NotificationCenter.default.addObserver(forName: .reachabilityChanged, object: reachability, queue: nil) { _ in
    exit(0)
}
reachability?.startNotifier()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 20))
exit(1)
