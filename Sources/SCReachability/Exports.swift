// SPDX-License-Identifier: MIT

// Exports the names that `import SystemConfiguration` exports on Apple's platforms: the calls, the C library, Dispatch,
// and the few names of CoreFoundation that such sources use. The last are CoreFoundation's own declarations, one by
// one: a file that also imports CoreFoundation sees one declaration of each. Its CFString is not exported, because a
// Swift string does not convert to it on Linux.

#if os(Linux)
@_exported public import CReachability
@_exported public import Dispatch

#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#endif

@_exported public import class CoreFoundation.CFAllocator
@_exported public import class CoreFoundation.CFRunLoop
@_exported public import func CoreFoundation.CFRunLoopGetCurrent
@_exported public import func CoreFoundation.CFRunLoopGetMain
@_exported public import func CoreFoundation.CFRunLoopRun
@_exported public import enum CoreFoundation.CFRunLoopRunResult
@_exported public import func CoreFoundation.CFRunLoopStop
@_exported public import func CoreFoundation.CFGetTypeID
@_exported public import typealias CoreFoundation.CFIndex
@_exported public import typealias CoreFoundation.CFTimeInterval
@_exported public import typealias CoreFoundation.CFTypeID
@_exported public import typealias CoreFoundation.CFTypeRef
@_exported public import let CoreFoundation.kCFAllocatorDefault
// For the members of CFString.
@_exported public import class Foundation.NSString
#elseif canImport(Darwin)
// There, this module is SystemConfiguration itself: one import line on every platform. Not `canImport` of that module: this
// package has a target of that name. In a file of its own, this hides CFIndex from importers on Linux (Swift 6.3.1).
@_exported public import SystemConfiguration
#endif
