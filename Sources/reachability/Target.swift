// SPDX-License-Identifier: MIT

import CReachability
import Glibc

/// What a target is bound to, besides the host.
struct Binding {
    var interface: String?
    var source: Address?
    var notifiesPath = false
}

/// One thing to ask about, and to be told of.
final class Target {
    /// As the user wrote it.
    let text: String
    let kind: Kind
    /// Called by the thread that drives the loop, when something changed.
    var onChange: (SCNetworkReachabilityFlags) -> Void = { _ in }

    private let reachability: SCNetworkReachability
    private var scheduledOn: SCRunLoop?

    enum Kind: String {
        case name = "by name"
        case address = "by address"
        case addressPair = "by address pair"
    }

    init(_ text: String, binding: Binding = Binding()) throws(Failure) {
        self.text = text
        var (name, local, remote) = (String?.none, binding.source, Address?.none)
        if let comma = text.firstIndex(of: ",") {
            kind = .addressPair
            guard binding.source == nil else { throw Failure("\(text): has a source of its own") }
            local = try Target.half(text[..<comma], of: text)
            remote = try Target.half(text[text.index(after: comma)...], of: text)
        } else {
            kind = Address.isLiteral(text) ? .address : .name
            if local == nil {
                name = text
            } else {
                remote = Address(text)
                guard remote != nil else {
                    throw Failure("\(text): a source address goes with an address, not with a name")
                }
            }
        }
        guard let created = Target.create(name: name, local: local, remote: remote, binding: binding) else {
            throw Target.refusal(of: text, local: local, remote: remote, binding: binding)
        }
        reachability = created
    }

    /// Why the library has refused to make a target: it says no more than that an argument is invalid.
    private static func refusal(of text: String, local: Address?, remote: Address?, binding: Binding) -> Failure {
        guard SCError() == __kSCStatusInvalidArgument else { return Failure(of: text) }
        if text.isEmpty { return Failure("\(text): is empty; give a name or an address") }
        if text == "," { return Failure("\(text): is neither a local nor a remote address") }
        if let local, let remote, local.family != remote.family {
            let source = binding.source.map { "the source is \($0.text): " } ?? ""
            return Failure("\(text): \(source)one address is IPv4, the other IPv6")
        }
        if let interface = binding.interface, text.contains("%") {
            return Failure("\(text): has another zone than the interface \(interface)")
        }
        if text.utf8.count > nameLimit { return Failure("\(text): a name has at most \(nameLimit) bytes") }
        return Failure(of: text)
    }

    private static let nameLimit = 1024

    /// The default path, of the family of the source address if there is one.
    init(defaultPath binding: Binding) throws(Failure) {
        text = "default"
        kind = .address
        let remote = Address.unspecified(like: binding.source)
        let created = Target.create(local: binding.source, remote: remote, binding: binding)
        guard let created else { throw Failure(of: text) }
        reachability = created
    }

    deinit {
        guard let scheduledOn else { return }
        _ = __SCNetworkReachabilitySetCallback(reachability, nil, nil)
        _ = __SCNetworkReachabilityUnscheduleFromRunLoop(reachability, scheduledOn, kSCRunLoopDefaultMode)
    }

    func flags() throws(Failure) -> SCNetworkReachabilityFlags {
        var flags: SCNetworkReachabilityFlags = []
        guard SCNetworkReachabilityGetFlags(reachability, &flags) else { throw Failure(of: text) }
        return flags
    }

    func state() throws(Failure) -> State {
        var path = SCNetworkReachabilityPath()
        path.size = MemoryLayout<SCNetworkReachabilityPath>.size
        guard SCNetworkReachabilityGetPath(reachability, &path) else { throw Failure(of: text) }
        return State(path)
    }

    /// Several lines, for people.
    var description: String {
        string { SCNetworkReachabilityGetDescription(reachability, $0, $1) }
    }

    /// From now on `onChange` is called, for as long as this object lives.
    func schedule(on runLoop: SCRunLoop) throws(Failure) {
        var context = CNetworkReachabilityContext()
        // Unretained: deinit takes the callback away, on the thread that delivers.
        context.info = Unmanaged.passUnretained(self).toOpaque()
        guard
            __SCNetworkReachabilitySetCallback(
                reachability,
                { _, flags, info in
                    guard let info else { return }
                    Unmanaged<Target>.fromOpaque(info).takeUnretainedValue().onChange(flags)
                },
                &context
            ),
            __SCNetworkReachabilityScheduleWithRunLoop(reachability, runLoop, kSCRunLoopDefaultMode)
        else { throw Failure(of: text) }
        scheduledOn = runLoop
    }

    /// An empty half is left to the kernel.
    private static func half(_ half: Substring, of text: String) throws(Failure) -> Address? {
        if half.isEmpty { return nil }
        guard let address = Address(String(half)) else { throw Failure("\(text): \(half) is not an address") }
        return address
    }

    private static func create(
        name: String? = nil, local: Address? = nil, remote: Address? = nil, binding: Binding
    ) -> SCNetworkReachability? {
        var options = SCNetworkReachabilityOptions()
        options.size = MemoryLayout<SCNetworkReachabilityOptions>.size
        if binding.notifiesPath { options.options = SCNetworkReachabilityOption.notifyPath.rawValue }
        return withPointer(to: name) { name in
            withPointer(to: binding.interface) { interface in
                Address.withPointer(to: local) { local in
                    Address.withPointer(to: remote) { remote in
                        options.nodename = name
                        options.interfaceName = interface
                        options.localAddress = local
                        options.remoteAddress = remote
                        return SCNetworkReachabilityCreateWithOptions(nil, &options)
                    }
                }
            }
        }
    }
}

private func withPointer<Result>(to text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}
