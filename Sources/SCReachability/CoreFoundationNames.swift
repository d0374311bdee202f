// SPDX-License-Identifier: MIT

#if os(Linux)
internal import CoreFoundation
public import Foundation

/// `"text" as CFString` works as on Apple's platforms. A file that imports CoreFoundation as well has to qualify it.
public typealias CFString = NSString
/// An error as `SCCopyLastError()` gives it; it can be thrown.
public typealias CFError = NSError

/// A run loop's mode, with the values of Foundation's `RunLoop.Mode`.
public struct CFRunLoopMode: RawRepresentable, Hashable, Sendable {
    private let name: String

    public var rawValue: CFString { name as NSString }

    public init(rawValue: CFString) {
        name = String(describing: rawValue)
    }

    public init(_ rawValue: CFString) {
        self.init(rawValue: rawValue)
    }

    // Optional as on Apple's platforms, where some sources unwrap them.

    /// What a run loop is usually run in.
    public static var defaultMode: CFRunLoopMode! { CFRunLoopMode(RunLoop.Mode.default.rawValue as NSString) }
    /// Stands for all modes that count as common.
    public static var commonModes: CFRunLoopMode! { CFRunLoopMode(RunLoop.Mode.common.rawValue as NSString) }
}

/// Runs the calling thread's run loop for `seconds`; 0 or less: one pass.
@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    CoreFoundation.CFRunLoopRunInMode(coreFoundationMode(mode.rawValue), seconds, returnAfterSourceHandled)
}

/// CoreFoundation tells its own modes by their identity, not by their text.
func coreFoundationMode(_ mode: NSString) -> CoreFoundation.CFString {
    switch RunLoop.Mode(String(describing: mode)) {
    case .default: kCFRunLoopDefaultMode
    case .common: kCFRunLoopCommonModes
    case let other: CFStringCreateWithCString(nil, other.rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
}

extension RunLoop {
    /// CoreFoundation's part of the main or the calling thread's run loop; of any other: nil. Take it on the thread
    /// that the loop belongs to, or use `CFRunLoopGetCurrent()` there.
    public func getCFRunLoop() -> CFRunLoop! {
        if self === RunLoop.main { return CFRunLoopGetMain() }
        return self === RunLoop.current ? CFRunLoopGetCurrent() : nil
    }
}
#endif
