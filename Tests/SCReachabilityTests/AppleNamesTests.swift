// SPDX-License-Identifier: MIT

import Foundation
import SCReachability
import TestSupport
import Testing

@Suite("Apple's names", .limited)
struct AppleNamesTests {
    @Test("A failure has a status and a text, and is an error that can be thrown")
    func errors() {
        #expect(SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "") == nil)
        #expect(Int(SCError()) == kSCStatusInvalidArgument)
        #expect(String(cString: SCErrorString(SCError())) == "Invalid argument")
        let error: CFError = SCCopyLastError()
        #expect(error.domain == kCFErrorDomainSystemConfiguration as String)
        #expect(error.code == 1002 && error.localizedDescription == "Invalid argument")
        #expect(kSCStatusOK == 0 && kSCStatusFailed == 1001 && kSCStatusAccessError == 1003)
        #expect(kSCStatusReachabilityUnknown == 4001)
    }

    @Test("The length of a socket address follows from its family, and setting it does nothing")
    func lengths() {
        var address = sockaddr()
        #expect(address.sa_len == 0)
        address.sa_family = sa_family_t(AF_INET)
        address.sa_len = 200
        #expect(address.sa_len == 16)
        var address4 = sockaddr_in()
        address4.sin_len = 0
        #expect(address4.sin_len == 16)
        var address6 = sockaddr_in6()
        address6.sin6_len = 0
        #expect(address6.sin6_len == 28)
        var storage = sockaddr_storage()
        storage.ss_family = sa_family_t(AF_INET6)
        #expect(storage.ss_len == 28)
    }

    @Test("Run loop modes have Foundation's values, and text converts to CFString")
    func modes() {
        #expect(CFRunLoopMode.defaultMode.rawValue as String == RunLoop.Mode.default.rawValue)
        #expect(CFRunLoopMode.commonModes!.rawValue as String == RunLoop.Mode.common.rawValue)
        #expect(CFRunLoopMode("a" as CFString) == CFRunLoopMode(rawValue: "a"))
        #expect(RunLoop.main.getCFRunLoop() === CFRunLoopGetMain())
    }

    @Test("A context of another version is refused")
    func contextVersion() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        var context = SCNetworkReachabilityContext()
        #expect(SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context))
        context.version = 1
        #expect(SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context) == false)
        #expect(Int(SCError()) == kSCStatusInvalidArgument)
    }

    @Test("No target is made from an address of another family")
    func otherFamily() {
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        #expect(SCNetworkReachabilityCreateWithAddress(nil, &address) == nil)
        #expect(SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, &address) == nil)
        #expect(SCNetworkReachabilityCreateWithAddressPair(nil, nil, nil) == nil)
        #expect(SCNetworkReachabilityCreateWithAddressPair(kCFAllocatorDefault, nil, nil) == nil)
    }

    @Test("Socket addresses are made with Apple's initializers, from any integer as family")
    func addresses() {
        let address4 = sockaddr_in(
            sin_len: UInt8(MemoryLayout<sockaddr_in>.size), sin_family: sa_family_t(AF_INET),
            sin_port: UInt16(80).bigEndian,
            sin_addr: in_addr(s_addr: IN_LINKLOCALNETNUM.bigEndian), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        #expect(address4.sin_family == AF_INET && address4.sin_port == 0x5000 && address4.sin_len == 16)
        #expect(String(cString: inet_ntoa(address4.sin_addr)) == "169.254.0.0")
        let address6 = sockaddr_in6(
            sin6_len: UInt8(MemoryLayout<sockaddr_in6>.size), sin6_family: UInt8(AF_INET6), sin6_port: 0,
            sin6_flowinfo: 0,
            sin6_addr: in6addr_loopback, sin6_scope_id: 1)
        #expect(address6.sin6_family == AF_INET6 && address6.sin6_scope_id == 1)
        var address = sockaddr(
            sa_len: 16, sa_family: UInt8(AF_INET), sa_data: (0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0))
        var flags: SCNetworkReachabilityFlags = []
        let target = SCNetworkReachabilityCreateWithAddress(nil, &address)
        #expect(target.map { SCNetworkReachabilityGetFlags($0, &flags) } == true && flags.contains(.isLocalAddress))
    }

    @Test("The old names of the flags are the flags' bits")
    func oldFlags() {
        let old: [(Int, SCNetworkReachabilityFlags)] = [
            (kSCNetworkFlagsTransientConnection, .transientConnection), (kSCNetworkFlagsReachable, .reachable),
            (kSCNetworkFlagsConnectionRequired, .connectionRequired),
            (kSCNetworkFlagsConnectionAutomatic, .connectionAutomatic),
            (kSCNetworkFlagsInterventionRequired, .interventionRequired),
            (kSCNetworkFlagsIsLocalAddress, .isLocalAddress), (kSCNetworkFlagsIsDirect, .isDirect),
        ]
        for (bit, flag) in old { #expect(SCNetworkConnectionFlags(bit) == flag.rawValue) }
    }

    @Test("A mode of Foundation converts to CFString and back, and a target is scheduled in it")
    func foundationModes() throws {
        #expect(RunLoop.Mode.common as CFString == CFRunLoopMode.commonModes.rawValue)
        #expect(CFRunLoopMode(RunLoop.Mode.default as CFString) == CFRunLoopMode.defaultMode)
        #expect(("a" as CFString) as RunLoop.Mode == RunLoop.Mode("a"))
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        #expect(
            SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), RunLoop.Mode.common as CFString)
                && SCNetworkReachabilityUnscheduleFromRunLoop(
                    target, CFRunLoopGetMain(), CFRunLoopMode.commonModes.rawValue)
        )
    }

    @Test("An error has a code, a domain and a text by the calls of CoreFoundation")
    func errorCalls() {
        #expect(SCNetworkReachabilityCreateWithName(nil, "") == nil)
        let error = SCCopyLastError()
        let code: CFIndex = CFErrorGetCode(error)
        #expect(code == kSCStatusInvalidArgument && CFErrorCopyDescription(error) == "Invalid argument")
        #expect(CFErrorGetDomain(error) == kCFErrorDomainSystemConfiguration && kSCStatusNoKey == 1004)
    }

    @Test("A target has the type of targets, and a run loop another")
    func typeIDs() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        let type: CFTypeID = CFGetTypeID(target)
        #expect(type == SCNetworkReachabilityGetTypeID() && CFGetTypeID(CFRunLoopGetMain()) != type)
    }

    @Test("A target is equal to itself, and is the key of a dictionary and an element of a set")
    func hashing() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        let other = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        #expect(target == target && target != other)
        let (optional, none): (SCNetworkReachability?, SCNetworkReachability?) = (target, nil)
        #expect(target === target && target !== other && optional === target && optional !== none && none === nil)
        #expect([target: 1, other: 2][other] == 2 && Set([target, other, target]).count == 2)
        #expect(Set([AnyHashable(target), AnyHashable(target)]).count == 1)
    }

    @Test("An observer of a target's notifications receives those of that target only")
    func notifications() async throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        let other = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.2"))
        let name = Notification.Name("reachability \(#function)")
        let objects = Recorder<SCNetworkReachability?>()
        let observer = NotificationCenter.default.addObserver(forName: name, object: target, queue: nil) {
            objects.record($0.object as? SCNetworkReachability)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        for sender in [target, other, target] { NotificationCenter.default.post(name: name, object: sender) }
        #expect(await objects.rest() == [target, target])
        #expect(target as AnyObject === target as AnyObject && target as AnyObject !== other as AnyObject)
    }

    @Test("A target ends with its last reference, although an observer waits for its notifications")
    func observedTargetEnds() throws {
        let ended = Recorder<Void>()
        let name = Notification.Name("reachability \(#function)")
        var observer: (any NSObjectProtocol)?
        try {
            let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
            var context = SCNetworkReachabilityContext(
                version: 0, info: Unmanaged.passRetained(DeinitProbe(ended)).toOpaque(), retain: nil,
                release: { Unmanaged<DeinitProbe>.fromOpaque($0).release() }, copyDescription: nil)
            #expect(SCNetworkReachabilitySetCallback(target, { _, _, _ in }, &context))
            observer = NotificationCenter.default.addObserver(forName: name, object: target, queue: nil) { _ in }
            NotificationCenter.default.post(name: name, object: target)
            #expect(ended.count == 0)
        }()
        #expect(ended.count == 1)
        NotificationCenter.default.removeObserver(try #require(observer))
    }
}
