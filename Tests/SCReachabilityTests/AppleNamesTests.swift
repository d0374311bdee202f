// SPDX-License-Identifier: MIT

import Foundation
import SCReachability
import TestSupport
import Testing

@Suite("Apple's names", .patient)
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
}
