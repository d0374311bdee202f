// SPDX-License-Identifier: MIT

// What `import SystemConfiguration` brings along on Apple's platforms, so that sources written there find it here: the
// calls themselves, the C library, Dispatch, and the few names of CoreFoundation that such sources use. The last are
// CoreFoundation's own, one by one: a file that imports CoreFoundation too sees one declaration, not two. Its CFString
// is left out, as Swift text does not convert to it on Linux.

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
@_exported public import typealias CoreFoundation.CFTimeInterval
@_exported public import let CoreFoundation.kCFAllocatorDefault
// For the members of CFString.
@_exported public import class Foundation.NSString
#endif
