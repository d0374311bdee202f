import AlamofireReachability
import Foundation

NetworkReachabilityManager.default?.startListening { status in
    print(status)
    exit(0)
}
RunLoop.main.run(until: Date(timeIntervalSinceNow: 20))
exit(1)
