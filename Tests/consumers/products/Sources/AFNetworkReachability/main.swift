import AFNetworkReachability
import Foundation

let manager = AFNetworkReachabilityManager.shared()
manager.setReachabilityStatusChange { status in
    print(AFStringFromNetworkReachabilityStatus(status))
    exit(AFStringFromNetworkReachabilityStatus(.notReachable, language: "de") == "Nicht erreichbar" ? 0 : 1)
}
manager.startMonitoring()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 20))
exit(1)
