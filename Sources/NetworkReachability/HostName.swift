// SPDX-License-Identifier: MIT

#if os(Linux)
import ReachabilityHostNames

enum HostName {
    static func validate(_ host: String) throws(ReachabilityError) {
        switch HostNameFlaw(of: host) {
        case .empty: throw ReachabilityError(.emptyHost)
        case .tooLong: throw ReachabilityError(.hostTooLong)
        case .nul: throw ReachabilityError(.hostHasNUL)
        case .scheme: throw ReachabilityError(.hostHasScheme)
        case .slash: throw ReachabilityError(.hostHasSlash)
        case .whiteSpace: throw ReachabilityError(.hostHasWhiteSpace)
        case .notConvertible: throw ReachabilityError(.hostNotConvertible)
        case nil: return
        }
    }
}
#endif
