import Glibc
import NWReachability

// The handler is called although the main thread is blocked.
let isCalled = DispatchSemaphore(value: 0)
let monitor = NWPathMonitor(requiredInterfaceType: .loopback)
monitor.pathUpdateHandler = { path in
    print(path)
    if path.status == .satisfied { isCalled.signal() }
}
monitor.start(queue: DispatchQueue(label: "paths"))
exit(isCalled.wait(timeout: .now() + 20) == .success ? 0 : 1)
