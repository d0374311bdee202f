// SPDX-License-Identifier: MIT

internal import Glibc
package import Testing

/// A seccomp filter for the calling thread, and for the threads and processes that it starts later. It stays until they
/// end, so a test that has one is a process of its own.
package struct SystemCallFilter {
    private typealias Instruction = (code: UInt16, ifTrue: UInt8, ifFalse: UInt8, value: UInt32)

    private let instructions: [Instruction]

    /// socket(2) fails with this errno for these families.
    package static func denying(socketsOf families: [Int32], with error: Int32 = EPERM) -> SystemCallFilter {
        SystemCallFilter(
            instructions: families.flatMap { family in
                [
                    load(callNumber), jumpIfEqual(to: socketCall, else: 3), load(firstArgument),
                    jumpIfEqual(to: UInt32(family), else: 1), result(fail | UInt32(error)),
                ]
            } + [result(allow)])
    }

    /// Each call kills the process, except `exit(_:)`.
    package static let killing = SystemCallFilter(instructions: [
        load(callNumber), jumpIfEqual(to: exitCall, else: 1), result(allow), result(kill),
    ])

    /// The thread sanitizer makes system calls of its own.
    package static let isUnderThreadSanitizer = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

    package func install(_ location: SourceLocation = #_sourceLocation) throws {
        try #require(prctl(noNewPrivileges, 1, 0, 0, 0) == 0, sourceLocation: location)
        let isInstalled = instructions.withUnsafeBufferPointer { instructions in
            // struct sock_fprog.
            var program = (count: UInt16(instructions.count), instructions: instructions.baseAddress)
            return withUnsafePointer(to: &program) { prctl(setSeccomp, 2, UInt(bitPattern: $0), 0, 0) == 0 }
        }
        try #require(isInstalled, "seccomp does not work here", sourceLocation: location)
    }

    /// Ends the process with a single system call.
    package static func exit(_ status: Int) -> Never {
        _ = systemCall(Int(exitCall), status)
        fatalError()
    }

    private static func load(_ offset: UInt32) -> Instruction { (0x20, 0, 0, offset) }
    private static func jumpIfEqual(to value: UInt32, else skipped: UInt8) -> Instruction { (0x15, 0, skipped, value) }
    private static func result(_ value: UInt32) -> Instruction { (0x06, 0, 0, value) }

    // Offsets in struct seccomp_data.
    private static let callNumber: UInt32 = 0
    /// The offset of the low half. Swift for Linux is little-endian.
    private static let firstArgument: UInt32 = 16
    private static let allow: UInt32 = 0x7FFF_0000
    private static let fail: UInt32 = 0x0005_0000
    private static let kill: UInt32 = 0x8000_0000
}

// Numbers of system calls. Those of 64-bit ARM are also those of newer architectures.
#if arch(x86_64)
private let (socketCall, exitCall): (UInt32, UInt32) = (41, 231)
#else
private let (socketCall, exitCall): (UInt32, UInt32) = (198, 94)
#endif

// Swift does not import functions with variable arguments.
@_silgen_name("prctl")
private func prctl(_ option: Int32, _: UInt, _: UInt, _: UInt, _: UInt) -> Int32
@_silgen_name("syscall")
private func systemCall(_ number: Int, _: Int) -> Int
private let noNewPrivileges: Int32 = 38
private let setSeccomp: Int32 = 22
