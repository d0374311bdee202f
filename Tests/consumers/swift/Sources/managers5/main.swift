// A program as it is written for the managers on Apple's platforms, in the Swift 5 language mode: its closures capture
// objects that are not Sendable.

import AFNetworkReachability
import AlamofireReachability
import ClassicReachability
import Foundation

class Screen {
    var events: [String] = []
    let network = AFNetworkReachabilityManager(forDomain: "localhost")
    let alamofire = NetworkReachabilityManager(host: "localhost")
    let reachability = Reachability(hostname: "localhost")!

    func appear() {
        network.setReachabilityStatusChange { [weak self] status in
            switch status {
            case .reachableViaWiFi, .reachableViaWWAN: self?.events.append("AFNetworking")
            case .notReachable, .unknown: break
            }
        }
        network.startMonitoring()

        alamofire?.startListening { status in
            if case .reachable(let connection) = status, connection == .ethernetOrWiFi {
                self.events.append("Alamofire")
            }
        }

        _ = NotificationCenter.default.addObserver(
            forName: .reachabilityChanged, object: reachability, queue: nil
        ) { notification in
            guard let reachability = notification.object as? Reachability, reachability.isReachable() else { return }
            self.events.append("Reachability")
        }
        reachability.reachableBlock = { reachability in
            guard reachability?.currentReachabilityStatus() == .reachableViaWiFi else { return }
            DispatchQueue.main.async { self.events.append("block") }
        }
        reachability.startNotifier()
    }
}

class CountingManager: AFNetworkReachabilityManager, @unchecked Sendable {
    var starts = 0

    override init(reachability: SCNetworkReachability!) {
        super.init(reachability: reachability)
    }

    override func startMonitoring() -> Bool {
        starts += 1
        return super.startMonitoring()
    }
}

let counting = CountingManager(forDomain: "localhost")
_ = counting.startMonitoring()
let screen = Screen()
screen.appear()
let deadline = Date(timeIntervalSinceNow: 20)
while Set(screen.events).count < 4, Date() < deadline {
    _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
}
guard Set(screen.events).count == 4, counting.starts == 1 else {
    print("not every manager called back: \(screen.events)")
    exit(1)
}
