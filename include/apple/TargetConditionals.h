/* SPDX-License-Identifier: MIT */

/*
 * The conditionals that tell systems apart: this is Linux. A program may set TARGET_OS_OSX, TARGET_OS_IPHONE and
 * TARGET_OS_MAC on the compiler's command line, to get the code that it has for those systems.
 */

/* The CoreFoundation of Swift's toolchain includes this file, if it is found, each time it is included. */
#if defined(__COREFOUNDATION_CFBASE__) && defined(REACHABILITY_APPLE_COREFOUNDATION)
#error \
    "libreachability's CoreFoundation and that of Swift's toolchain cannot be in one file: see CoreFoundation/CFBase.h"
#endif

#ifndef __TARGETCONDITIONALS__
#define __TARGETCONDITIONALS__

#ifndef TARGET_OS_MAC
#define TARGET_OS_MAC 0
#endif
#ifndef TARGET_OS_OSX
#define TARGET_OS_OSX 0
#endif
#ifndef TARGET_OS_IPHONE
#define TARGET_OS_IPHONE 0
#endif
#define TARGET_OS_IOS           0
#define TARGET_OS_MACCATALYST   0
#define TARGET_OS_TV            0
#define TARGET_OS_WATCH         0
#define TARGET_OS_VISION        0
#define TARGET_OS_BRIDGE        0
#define TARGET_OS_SIMULATOR     0
#define TARGET_OS_EMBEDDED      0
#define TARGET_IPHONE_SIMULATOR 0
#define TARGET_OS_NANO          0
#define TARGET_OS_DRIVERKIT     0
#define TARGET_OS_LINUX         1
#define TARGET_OS_UNIX          0
#define TARGET_OS_BSD           0
#define TARGET_OS_ANDROID       0
#define TARGET_OS_CYGWIN        0
#define TARGET_OS_WASI          0
#define TARGET_OS_WIN32         0
#define TARGET_OS_WINDOWS       0

#ifdef __x86_64__
#define TARGET_CPU_X86_64 1
#else
#define TARGET_CPU_X86_64 0
#endif
#ifdef __aarch64__
#define TARGET_CPU_ARM64 1
#else
#define TARGET_CPU_ARM64 0
#endif
#ifdef __i386__
#define TARGET_CPU_X86 1
#else
#define TARGET_CPU_X86 0
#endif
#if defined(__arm__) && !defined(__aarch64__)
#define TARGET_CPU_ARM 1
#else
#define TARGET_CPU_ARM 0
#endif

#define TARGET_RT_MAC_CFM   0
#define TARGET_RT_MAC_MACHO 0
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TARGET_RT_LITTLE_ENDIAN 1
#define TARGET_RT_BIG_ENDIAN    0
#else
#define TARGET_RT_LITTLE_ENDIAN 0
#define TARGET_RT_BIG_ENDIAN    1
#endif
#ifdef __LP64__
#define TARGET_RT_64_BIT 1
#else
#define TARGET_RT_64_BIT 0
#endif

#endif
