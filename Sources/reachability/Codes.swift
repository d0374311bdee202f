// SPDX-License-Identifier: MIT

import NetworkReachability

extension ReachabilityReason {
    /// The reasons and their codes: words for programs, which never change.
    static let codes: [(reason: ReachabilityReason, code: String)] = [
        (.noRoute, "noRoute"), (.routeUnreachable, "routeUnreachable"), (.routeProhibited, "routeProhibited"),
        (.routeBlackhole, "routeBlackhole"), (.interfaceDown, "interfaceDown"), (.noCarrier, "noCarrier"),
        (.noSourceAddress, "noSourceAddress"), (.localAddressNotAssigned, "localAddressNotAssigned"),
        (.namePending, "namePending"), (.nameNotFound, "nameNotFound"), (.nameServerFailure, "nameServerFailure"),
        (.nameServerUnreachable, "nameServerUnreachable"), (.interfaceMissing, "interfaceMissing"),
    ]

    var code: String {
        ReachabilityReason.codes.first { $0.reason == self }?.code ?? "reason\(rawValue)"
    }
}

extension ReachabilityFlags {
    /// The names of the flags in the Swift API and in Apple's, in the order of the text.
    private static let names: [(flag: ReachabilityFlags, name: String)] = [
        (.reachable, "reachable"), (.transientConnection, "transientConnection"),
        (.connectionRequired, "connectionRequired"), (.connectionOnTraffic, "connectionOnTraffic"),
        (.connectionOnDemand, "connectionOnDemand"), (.interventionRequired, "interventionRequired"),
        (.isLocalAddress, "isLocalAddress"), (.isDirect, "isDirect"), (.isWWAN, "isWWAN"),
    ]

    var names: [String] {
        ReachabilityFlags.names.filter { contains($0.flag) }.map(\.name)
    }
}
