import Foundation
import Old

let watcher = HostWatcher(host: "localhost") { flags in
    print("called back:", flags.isUsable ? "usable" : "not usable")
    exit(0)
}
RunLoop.main.run(until: Date(timeIntervalSinceNow: 20))
print("no callback")
exit(1)
