// A program as it is written for Apple's SystemConfiguration.

import Foundation
import SystemConfiguration

#if !canImport(SystemConfiguration) && !canImport(SCReachability)
#error("no reachability here")
#endif

func check(_ condition: Bool, _ what: String) {
    guard !condition else { return }
    print("failed: \(what)")
    exit(1)
}

check(Address.zeroByPointer().flatMap(Address.flags) != nil, "the default path has flags")
check(Address.zeroByReference().flatMap(Address.flags) != nil, "the default path has flags")
let local: SCNetworkReachabilityFlags = [.reachable, .isLocalAddress, .isDirect]
check(Address.loopback6().flatMap(Address.flags).map { $0 == local || $0 == [] } == true, "::1 is local")
let flags = Address.pair().flatMap(Address.flags)
check(flags == local && Address.isUsable(local), "127.0.0.1 is local")

let called = DispatchSemaphore(value: 0)
var watcher = Watcher(host: "localhost.invalid") { _ in called.signal() }
check(watcher?.start() == true, "a watcher starts")
check(called.wait(timeout: .now() + 20) == .success, "a watcher is called")
watcher = nil

check(Loop.callsUntilStopped(host: "localhost.invalid") == 1, "a run loop's callback comes once")
check(Loop.callsInMainLoop(host: "localhost.invalid") == 1, "the main loop's callback comes once")
check(Loop.failure() == "Invalid argument", "a failure has a text")
check(Watcher(host: "", onFlags: { _ in }) == nil, "a host name that is empty fails")

guard let zero = Names.zeroByInitializer(), let wifi = Names.localWiFi() else { fatalError("targets from addresses") }
check(Names.isUsable(local) && Names.schedules(zero) && Names.isTarget(wifi), "a target has Apple's names")
check(Names.errorCode() == kSCStatusInvalidArgument && kSCStatusNoKey == 1004, "an error has a code")
check(Names.notifications(zero, wifi) == 1, "a notification is about one target")
