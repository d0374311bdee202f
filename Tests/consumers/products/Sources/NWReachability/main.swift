import Glibc
import NWReachability

let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
monitor.pathUpdateHandler = { path in
    print(path)
    exit(path.status == .satisfied ? 0 : 1)
}
monitor.start(queue: .main)
DispatchQueue.main.asyncAfter(deadline: .now() + 20) { exit(1) }
dispatchMain()
