// SPDX-License-Identifier: MIT

import CReachability
import Glibc
import NetworkReachability
import ReachabilityInternals

/// What a target is bound to, besides the host.
struct TargetBinding {
    var interface: String?
    var source: IPAddress?
    var transport: ReachabilityTransport?
    var port: UInt16 = 0
    /// SO_MARK. 0: none.
    var mark: UInt32 = 0
    /// nil: both.
    var family: ReachabilityAddressFamily?
    /// The callback also comes when the path changes and the flags do not. Without this, a scheduled target has no
    /// state that agrees with its callbacks.
    var notifiesPath = false
}

/// A host, an address, a pair of addresses or the default path, as the user wrote it.
///
/// It is not built on `ReachabilityMonitor`: that calls back on threads of its own.
final class Target {
    enum Kind: String {
        case name = "by name"
        case address = "by address"
        case addressPair = "by address pair"
    }

    /// The name of the default path. A host of this name is `default.`.
    static let defaultPathText = "default"

    /// As the user wrote it.
    let text: String
    let kind: Kind
    /// The text for people: for an IPv4 address that is written in an unusual form, also the usual one.
    let label: String
    /// Called at each change, by the thread that drives the run loop.
    var onChange: (ReachabilityFlags) -> Void = { _ in }

    private let target: KernelTarget
    private var reachability: SCNetworkReachability { target.target }
    private var runLoop: SCRunLoop?
    /// Of the last state.
    private var addresses: [IPAddress] = []

    convenience init(_ text: String, binding: TargetBinding = TargetBinding()) throws(ToolError) {
        if text == Target.defaultPathText {
            try self.init(defaultPath: binding)
            return
        }
        let (kind, question) = try Target.parse(text, source: binding.source)
        try self.init(text, kind, question, binding)
    }

    /// The default path, of the family of the source address if there is one.
    private convenience init(defaultPath binding: TargetBinding) throws(ToolError) {
        let isIPv6 = binding.source?.isIPv6 ?? (binding.family == .ipv6)
        let remote = IPAddress(isIPv6 ? "::" : "0.0.0.0")
        try self.init(Target.defaultPathText, .address, .addresses(local: binding.source, remote: remote), binding)
    }

    private init(
        _ text: String, _ kind: Kind, _ question: KernelTarget.Kind, _ binding: TargetBinding
    ) throws(ToolError) {
        self.text = text
        self.kind = kind
        let usual = IPAddress(numeric: text).flatMap { $0.isIPv6 || $0.description == text ? nil : $0.description }
        label = text.escaped + (usual.map { " (\($0))" } ?? "")
        do {
            var options = ReachabilityOptions(
                interface: binding.interface, addressFamily: binding.family, routingMark: binding.mark)
            options.transport = binding.transport
            options.port = binding.port
            target = try KernelTarget(question, options, notifiesPath: binding.notifiesPath)
        } catch {
            throw Target.refusal(of: text, question, binding, error)
        }
    }

    deinit {
        guard let runLoop else { return }
        _ = __SCNetworkReachabilitySetCallback(reachability, nil, nil)
        _ = __SCNetworkReachabilityUnscheduleFromRunLoop(reachability, runLoop, kSCRunLoopDefaultMode)
    }

    func flags() throws(ToolError) -> ReachabilityFlags {
        var flags: SCNetworkReachabilityFlags = []
        guard SCNetworkReachabilityGetFlags(reachability, &flags) else { throw ToolError(of: text) }
        return ReachabilityFlags(rawValue: flags.rawValue)
    }

    /// The state now. For a target that is scheduled and notifies of its path: the state when the loop was last driven.
    /// A newer one could end before the loop sees it. Then there would be no callback, and it would be shown for ever.
    func state() throws(ToolError) -> TargetState {
        guard let path = target.path() else { throw ToolError(of: text) }
        addresses = addresses(of: path)
        return TargetState(path: path, isOfName: kind == .name, addresses: addresses)
    }

    /// The addresses that the path was evaluated with. The library returns those of the newest look-up, whose evaluation
    /// may still be due. Then a callback comes for them, and the addresses are those of the state before.
    private func addresses(of path: ReachabilityPath) -> [IPAddress] {
        let newest = target.addresses
        guard kind == .name else { return newest }
        switch path.reason {
        case .namePending, .nameNotFound, .nameServerFailure, .nameServerUnreachable: return []
        default:
            guard let destination = path.destination, !newest.contains(destination) else { return newest }
            return addresses.contains(destination) ? addresses : [destination]
        }
    }

    /// Several lines, for people.
    var description: String { target.description }

    /// From now on `onChange` is called, for as long as this object lives.
    func schedule(on runLoop: SCRunLoop) throws(ToolError) {
        var context = CNetworkReachabilityContext()
        // Unretained: deinit removes the callback, on the thread that delivers.
        context.info = CallbackInfo.pointer(to: self)
        guard
            __SCNetworkReachabilitySetCallback(
                reachability,
                { _, flags, info in
                    guard let info else { return }
                    let target = CallbackInfo.object(Target.self, at: info)
                    target.onChange(ReachabilityFlags(rawValue: flags.rawValue))
                },
                &context
            ),
            __SCNetworkReachabilityScheduleWithRunLoop(reachability, runLoop, kSCRunLoopDefaultMode)
        else { throw ToolError(of: text) }
        self.runLoop = runLoop
    }
}

extension Target {
    private static func parse(_ text: String, source: IPAddress?) throws(ToolError) -> (Kind, KernelTarget.Kind) {
        if let comma = text.firstIndex(of: ",") {
            guard source == nil else { throw ToolError("\(text): already has a source address; leave out --source") }
            let local = try half(text[..<comma], of: text)
            return (
                .addressPair, .addresses(local: local, remote: try half(text[text.index(after: comma)...], of: text))
            )
        }
        let kind: Kind = IPAddress.isLiteral(text) ? .address : .name
        guard let source else { return (kind, .host(text)) }
        guard let remote = IPAddress(numeric: text) else {
            throw ToolError("\(text): a source address needs an address as the target, not a name")
        }
        return (kind, .addresses(local: source, remote: remote))
    }

    /// nil: the half is empty, and the kernel chooses the address.
    private static func half(_ half: Substring, of text: String) throws(ToolError) -> IPAddress? {
        if half.isEmpty { return nil }
        guard let address = IPAddress(numeric: String(half)) else {
            throw ToolError("\(text): \(half) is not an address")
        }
        return address
    }

    /// Whether an address is not of this family.
    private static func isOfOther(_ family: ReachabilityAddressFamily, _ question: KernelTarget.Kind) -> Bool {
        switch question {
        case .addresses(let local, let remote): (remote ?? local).map { $0.isIPv6 != (family == .ipv6) } ?? false
        case .host(let host): IPAddress.isLiteral(host) && host.contains(":") != (family == .ipv6)
        case .defaultPath, .network, .socket: false
        }
    }

    /// Why the library refused to create a target. It reports only that an argument is invalid.
    private static func refusal(
        of text: String, _ question: KernelTarget.Kind, _ binding: TargetBinding, _ error: ReachabilityError
    ) -> ToolError {
        if let errno = error.errno { return ToolError(of: text, status: errno) }
        if text.isEmpty { return ToolError("\(text): is empty; give a name or an address") }
        if text == "," { return ToolError("\(text): is neither a local nor a remote address") }
        if case .addresses(let local?, let remote?) = question, local.isIPv6 != remote.isIPv6 {
            let source = binding.source.map { "the source is \($0): " } ?? ""
            return ToolError("\(text): \(source)one address is IPv4, the other IPv6")
        }
        if let family = binding.family, Target.isOfOther(family, question) {
            let name = family == .ipv6 ? "IPv6" : "IPv4"
            return ToolError("\(text): is not of \(name); leave out -\(name.suffix(1))")
        }
        if let interface = binding.interface, error.detail?.contains("not the interface") == true {
            return ToolError("\(text): has another zone than the interface \(interface)")
        }
        if HostNameFlaw(of: text) == .tooLong {
            return ToolError("\(text): a name has at most \(HostNameFlaw.maximumLength) bytes")
        }
        return ToolError(of: text, status: Int32(__kSCStatusInvalidArgument))
    }
}

extension IPAddress {
    /// An address literal as getaddrinfo(3) reads it: the name of a zone counts only in link-local addresses, and `%0`
    /// means no zone. Never queries a name server.
    init?(numeric text: String) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list else { return nil }
        defer { freeaddrinfo(list) }
        var storage = sockaddr_storage()
        memcpy(&storage, list.pointee.ai_addr, Int(list.pointee.ai_addrlen))
        self.init(storage)
    }

    /// Whether a text is a literal, also when its zone is not an interface (yet) and no `IPAddress` can be made of it.
    static func isLiteral(_ text: String) -> Bool {
        let address = text.prefix { $0 != "%" }
        return IPAddress(numeric: text) != nil
            || address.count < text.count && IPAddress(String(address))?.isIPv6 == true
    }
}

/// The targets that had a callback.
final class ChangedTargets {
    var indices: Set<Int> = []
    /// Those with a change that is not shown yet.
    var unsettled: Set<Int> = []

    func takeAll() -> [Int] {
        defer { indices = [] }
        return indices.sorted()
    }
}

/// What `watch` has seen of a target so far.
final class TargetHistory {
    let target: Target
    /// The last one that was shown.
    private(set) var state: TargetState?
    /// The state of the last callback. It is shown when it has settled.
    private var latest: TargetState?
    private var debouncer: Debouncer
    /// The states after the first one: the lines that `watch` prints at changes.
    private(set) var changes = 0
    /// When the target became reachable, unreachable or pending.
    private(set) var since: ContinuousClock.Instant
    private var unreachableBefore: Duration = .zero

    init(of target: Target, settleTime: Duration = .zero) {
        self.target = target
        debouncer = Debouncer(settleTime: settleTime)
        since = .now
    }

    /// When a change has settled. nil: there is none.
    var due: ContinuousClock.Instant? { debouncer.due }

    /// Reads the state. `isSame`: whether two states need no two lines.
    func follow(_ isSame: (TargetState, TargetState?) -> Bool) throws(ToolError) {
        let state = try target.state()
        defer { latest = state }
        if isSame(state, self.state) {
            debouncer.reset()
        } else if debouncer.due == nil || !isSame(state, latest) {
            debouncer.recordChange(at: .now)
        }
    }

    /// The state that should be shown now, or nil.
    func settled(at now: ContinuousClock.Instant) -> TargetState? {
        guard let due, due <= now else { return nil }
        debouncer.reset()
        return latest
    }

    func record(_ state: TargetState) {
        if let before = self.state {
            changes += 1
            if before.status != state.status {
                unreachableBefore = unreachable
                since = .now
            }
        } else {
            since = .now
        }
        self.state = state
    }

    /// The time that the target was unreachable. A pending name is not.
    var unreachable: Duration {
        unreachableBefore + (state?.status == .unreachable ? since.duration(to: .now) : .zero)
    }
}
