// A program that imports every product, and uses each.

import AFNetworkReachability
import AlamofireReachability
import CReachability
import ClassicReachability
import Foundation
import NWReachability
import NetworkReachability
import SCReachability

func check(_ condition: Bool, _ what: String) {
    guard !condition else { return }
    print("failed: \(what)")
    exit(1)
}

// CReachability
guard let target = SCNetworkReachabilityCreateWithName(nil, "127.0.0.1") else { fatalError("\(SCError())") }
var path = SCNetworkReachabilityPath()
path.size = MemoryLayout<SCNetworkReachabilityPath>.size
check(SCNetworkReachabilityGetPath(target, &path) && path.reason == .none, "127.0.0.1 has a path")

// SCReachability
var flags: SCNetworkReachabilityFlags = []
check(SCNetworkReachabilityGetFlags(target, &flags) && flags.contains(.isLocalAddress), "127.0.0.1 is local")
var context = SCNetworkReachabilityContext(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
let callback: SCNetworkReachabilityCallBack = { _, _, _ in }
SCNetworkReachabilitySetCallback(target, callback, &context)
SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue)
SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue)
check(SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "") == nil, "an empty name fails")
check(Int(SCError()) == kSCStatusInvalidArgument && SCCopyLastError().code == 1002, "a failure sets the error")
check("text" as CFString == "text", "text is a CFString")

// NetworkReachability
let monitor = try ReachabilityMonitor(address: "127.0.0.1")
let local: ReachabilityFlags = [.reachable, .isLocalAddress, .isDirect]
check(monitor.path.flags == local && monitor.path.reason == nil, "127.0.0.1 is local")
check(monitor.addresses == [NetworkReachability.IPAddress("127.0.0.1")], "127.0.0.1 is its own address")
check(try ReachabilityNetwork.current().uplinksAreComplete, "the network is known")
let observation = monitor.observe { check($0.interface?.type == .loopback, "127.0.0.1 is reached over lo") }
check(ReachabilityScript(.reachable).watchedMonitors == 0, "a new script has no monitors")

// NWReachability
let pathMonitor = NWPathMonitor(requiredInterfaceType: .loopback)
check(
    pathMonitor.currentPath.status == NWPath.Status.unsatisfied, "a path monitor that is not started is not satisfied")
pathMonitor.start(queue: .main)
check(pathMonitor.currentPath.usesInterfaceType(NWInterface.InterfaceType.loopback), "the loopback path uses lo")
check(
    NWEndpoint.hostPort(host: .ipv4(IPv4Address.loopback), port: 80).debugDescription == "127.0.0.1:80", "an endpoint")
let loopback: (any NWReachability.IPAddress)? = IPv6Address("::1")
check(loopback?.isLoopback == true, "::1 is loopback")
pathMonitor.cancel()

// Each manager calls back on the main loop. After the last one, the loop stops.
let callbacks = DispatchGroup()
for _ in 0..<3 { callbacks.enter() }

// AFNetworkReachability
let af = AFNetworkReachabilityManager(forDomain: "localhost")
check(af.networkReachabilityStatus == AFNetworkReachabilityStatus.unknown, "the status is unknown at first")
af.setReachabilityStatusChange { status in
    check(status == .reachableViaWiFi && Thread.isMainThread, "localhost is reachable")
    callbacks.leave()
}
check(af.startMonitoring(), "AFNetworkReachabilityManager starts")
check(AFStringFromNetworkReachabilityStatus(.notReachable, language: "de") == "Nicht erreichbar", "it is translated")

// AlamofireReachability
let alamofire = NetworkReachabilityManager(host: "localhost")
check(alamofire?.status == .reachable(.ethernetOrWiFi), "localhost is reachable")
let isListening = alamofire?.startListening { (status: NetworkReachabilityManager.NetworkReachabilityStatus) in
    check(status == .reachable(.ethernetOrWiFi) && Thread.isMainThread, "localhost is reachable")
    callbacks.leave()
}
check(isListening == true, "NetworkReachabilityManager starts")

// ClassicReachability
let classic: Reachability! = Reachability(hostName: "localhost")
check(classic.currentReachabilityStatus() == NetworkStatus.reachableViaWiFi, "localhost is reachable")
let registration = NotificationCenter.default.addObserver(
    forName: .reachabilityChanged, object: classic, queue: nil
) { _ in callbacks.leave() }
check(classic.startNotifier(), "Reachability starts")

callbacks.notify(queue: .main) { CFRunLoopStop(CFRunLoopGetMain()) }
DispatchQueue.global().asyncAfter(deadline: .now() + 20) { check(false, "all managers call back") }
CFRunLoopRun()
observation.cancel()
NotificationCenter.default.removeObserver(registration)
