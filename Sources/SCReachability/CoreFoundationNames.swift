// SPDX-License-Identifier: MIT

#if os(Linux)
public import CoreFoundation
public import Foundation

/// `"text" as CFString` compiles as on Apple's platforms. A file that also imports CoreFoundation must qualify it.
public typealias CFString = NSString
/// The type of error that `SCCopyLastError()` returns. It can be thrown.
public typealias CFError = NSError

// Here, and not with the other calls about errors: a second file that imports only CFIndex hides it from importers, although
// Exports.swift exports it (Swift 6.3.1).

/// Returns the code of an error: a status of `SCError()`.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex {
    error.code
}

/// A run loop's mode, with the values of Foundation's `RunLoop.Mode`.
public struct CFRunLoopMode: RawRepresentable, Hashable, Sendable {
    private let name: String

    /// The name of the mode.
    public var rawValue: CFString { name as NSString }

    /// Makes a mode of this name.
    public init(rawValue: CFString) {
        name = String(describing: rawValue)
    }

    /// Makes a mode of this name.
    public init(_ rawValue: CFString) {
        self.init(rawValue: rawValue)
    }

    // Optional as on Apple's platforms, because some sources unwrap them.

    /// The default mode of a run loop.
    public static var defaultMode: CFRunLoopMode! { CFRunLoopMode(RunLoop.Mode.default.rawValue as NSString) }
    /// Stands for all common modes.
    public static var commonModes: CFRunLoopMode! { CFRunLoopMode(RunLoop.Mode.common.rawValue as NSString) }
}

/// Runs the calling thread's run loop for at most `seconds`. 0 or less: handles what is due, without waiting.
@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    CoreFoundation.CFRunLoopRunInMode(coreFoundationMode(mode.rawValue), seconds, returnAfterSourceHandled)
}

/// `RunLoop.Mode.common as CFString` compiles as on Apple's platforms.
extension RunLoop.Mode: @retroactive _ObjectiveCBridgeable {
    /// For `as CFString`.
    public func _bridgeToObjectiveC() -> NSString {
        rawValue as NSString
    }

    /// For `as RunLoop.Mode`.
    public static func _forceBridgeFromObjectiveC(_ source: NSString, result: inout RunLoop.Mode?) {
        result = RunLoop.Mode(String(describing: source))
    }

    /// For `as RunLoop.Mode`.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSString, result: inout RunLoop.Mode?) -> Bool {
        _forceBridgeFromObjectiveC(source, result: &result)
        return true
    }

    /// For `as RunLoop.Mode`.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSString?) -> RunLoop.Mode {
        RunLoop.Mode(source.map(String.init(describing:)) ?? "")
    }
}

/// CoreFoundation compares its own modes by identity, not by text. So this returns its constants for them.
func coreFoundationMode(_ mode: NSString) -> CoreFoundation.CFString {
    switch RunLoop.Mode(String(describing: mode)) {
    case .default: kCFRunLoopDefaultMode
    case .common: kCFRunLoopCommonModes
    case let other: CFStringCreateWithCString(nil, other.rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
}

extension RunLoop {
    /// Returns CoreFoundation's object of the main run loop or of the calling thread's run loop. Returns nil for any
    /// other loop: call this on the loop's own thread, or call `CFRunLoopGetCurrent()` there.
    public func getCFRunLoop() -> CFRunLoop! {
        if self === RunLoop.main { return CFRunLoopGetMain() }
        return self === RunLoop.current ? CFRunLoopGetCurrent() : nil
    }
}
#endif
