// SPDX-License-Identifier: MIT

import ClassicReachability
import Foundation
import TestSupport
import Testing

@Suite("Notifications of Reachability", .limited)
struct NotificationTests {
    @Test("Notifications on a concurrent queue do not overlap, and keep their order", .namespaceInside)
    func concurrent() async throws {
        let namespace = try await Namespace(.subnet)
        let internet = try namespace.inside { try #require(Reachability.forInternetConnection()) }
        internet.notificationQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let flags = Recorder<SCNetworkReachabilityFlags>()
        internet.reachabilityBlock = { flags.record($1) }
        let names: [NSNotification.Name] = [.reachabilityChanged, .networkReachabilityChanged]
        let events = Recorder<String>()
        let mayEnd = DispatchSemaphore(value: 0)
        let registrations = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: internet, queue: nil) { _ in
                events.record("begin \(name.rawValue)")
                mayEnd.wait()
                events.record("end \(name.rawValue)")
            }
        }
        internet.startNotifier()
        #expect(await flags.next() == [])
        // A block's notifications are queued right after it. So when the third block is called, those of the first two
        // are queued.
        for (change, wanted) in [(String.addDefault, SCNetworkReachabilityFlags.reachable), (.deleteDefault, [])] {
            try await namespace.ip(change)
            #expect(await flags.next() == wanted)
        }
        for _ in 0..<6 { mayEnd.signal() }
        for name in names + names + names {
            #expect(await events.next() == "begin \(name.rawValue)")
            #expect(await events.next() == "end \(name.rawValue)")
        }
        for registration in registrations { NotificationCenter.default.removeObserver(registration) }
    }

    @Test("The names of the notifications equal names made from the text constants")
    func names() {
        let names = [
            (Notification.Name.reachabilityChanged, kReachabilityChangedNotification),
            (.networkReachabilityChanged, kNetworkReachabilityChangedNotification),
        ]
        for (name, text) in names { #expect(NSNotification.Name(rawValue: text) == name) }
        #expect(kReachabilityChangedNotification == "kReachabilityChangedNotification")
        #expect(kNetworkReachabilityChangedNotification == "kNetworkReachabilityChangedNotification")
    }
}
