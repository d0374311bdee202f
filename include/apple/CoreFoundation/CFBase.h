/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_CFBASE_H
#define REACHABILITY_APPLE_CFBASE_H

#ifdef __cplusplus
#pragma GCC system_header /* no warnings about C casts */
#endif

/*
 * The part of CoreFoundation that reachability programs use. With it, sources for Apple's systems compile on Linux.
 * There are three kinds of objects: SCNetworkReachabilityRef, CFRunLoopRef and CFStringRef. CFRetain and CFRelease take
 * these, and in Objective-C also its objects.
 *
 * All functions are static and inline over libreachability. Nothing is exported: a program may also contain the
 * CoreFoundation of Swift's toolchain, whose functions have the same names. But one source file cannot include both.
 *
 * What this file must never do: export a symbol, or define a type that is not Apple's.
 */

#ifdef __COREFOUNDATION_CFBASE__
#error \
    "libreachability's CoreFoundation and that of Swift's toolchain cannot be in one file. To use the toolchain's, \
include <reachability/reachability.h> after it, and leave <SystemConfiguration/SystemConfiguration.h> out."
#endif
#define REACHABILITY_APPLE_COREFOUNDATION

#include <TargetConditionals.h>
#include <reachability/reachability.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __OBJC__
#include <Foundation/NSObject.h>
#endif

/* Automatic reference counting. gcc has none, and does not know the words for it. */
#if defined(__OBJC__) && defined(__has_feature)
#if __has_feature(objc_arc)
#define REACHABILITY_CF_ARC 1
/* As Apple's: a C pointer can be nil, too. With the type id, that would be an error here. */
#undef nil
#define nil NULL
#endif
#endif
#if defined(__OBJC__) && !defined(__clang__)
#define __bridge
#define __bridge_retained
#define __bridge_transfer
#endif

/* Words in headers of Objective-C that only Swift reads. GNUstep does not have them. */
#ifdef __OBJC__
#ifndef NS_SWIFT_NAME
#define NS_SWIFT_NAME(name)
#endif
#ifndef NS_SWIFT_NOTHROW
#define NS_SWIFT_NOTHROW
#endif
#ifndef NS_SWIFT_UNAVAILABLE
#define NS_SWIFT_UNAVAILABLE(message)
#endif
#ifndef NS_REFINED_FOR_SWIFT
#define NS_REFINED_FOR_SWIFT
#endif
#endif

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef __unused
#define __unused __attribute__((unused))
#endif
#ifndef CF_EXPORT
#define CF_EXPORT extern
#endif
#ifndef CF_INLINE
#define CF_INLINE static inline
#endif
#ifdef __cplusplus
#define CF_EXTERN_C_BEGIN extern "C" {
#define CF_EXTERN_C_END   }
#else
#define CF_EXTERN_C_BEGIN
#define CF_EXTERN_C_END
#endif

/* The words in Apple's headers that say what may be NULL. clang knows them, gcc does not. */
#ifndef __clang__
#ifndef _Nullable
#define _Nullable
#endif
#ifndef _Nonnull
#define _Nonnull
#endif
#ifndef _Null_unspecified
#define _Null_unspecified
#endif
#endif
/* The same for older sources. __nonnull is a macro of glibc's headers, with an argument. */
#ifndef __nullable
#define __nullable _Nullable
#endif
#ifndef __null_unspecified
#define __null_unspecified _Null_unspecified
#endif
#define CF_ASSUME_NONNULL_BEGIN
#define CF_ASSUME_NONNULL_END

typedef uint8_t UInt8;
typedef int8_t SInt8;
typedef uint16_t UInt16;
typedef int16_t SInt16;
typedef uint32_t UInt32;
typedef int32_t SInt32;
typedef uint64_t UInt64;
typedef int64_t SInt64;

typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFHashCode;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;

typedef const void *CFTypeRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct __CFString *CFStringRef;
/* Apple's names for the structures. */
#define __CFRunLoop             SCRunLoop
#define __SCNetworkReachability SCNetworkReachability
typedef SCRunLoopRef CFRunLoopRef;

typedef enum { kCFCompareLessThan = -1, kCFCompareEqualTo = 0, kCFCompareGreaterThan = 1 } CFComparisonResult;

/* There is only one allocator. */
#define kCFAllocatorDefault       ((CFAllocatorRef)0)
#define kCFAllocatorSystemDefault kCFAllocatorDefault

/* ---- How kinds of objects are told apart. Programs do not use these. */

/* A constant string is a literal: the first of these prefixes, then the text. A string that was made at run time has
 * the second prefix, in a struct reachability_cf_string. */
#define REACHABILITY_CF_CONSTANT "\177CFStr\1"
#define REACHABILITY_CF_MADE     "\177CFStr\2"
#define REACHABILITY_CF_BEGIN    7

struct reachability_cf_string {
    long references;
    char text[1]; /* REACHABILITY_CF_MADE, then the text */
};

static inline SCBoolean reachability_cf_is_string(CFTypeRef object)
{
    return object != NULL && memcmp(object, REACHABILITY_CF_CONSTANT, REACHABILITY_CF_BEGIN - 1) == 0;
}

/* The structure of a string that was made. NULL for anything else. */
static inline struct reachability_cf_string *reachability_cf_made(CFTypeRef object)
{
    if (object == NULL || memcmp(object, REACHABILITY_CF_MADE, REACHABILITY_CF_BEGIN) != 0)
        return NULL;
    return (struct reachability_cf_string *)((uintptr_t)object - offsetof(struct reachability_cf_string, text));
}

/* Retains the object if it is a target. Returns NULL if it is not. */
static inline SCNetworkReachabilityRef reachability_cf_retain_target(CFTypeRef object)
{
    return SCNetworkReachabilityRetain((SCNetworkReachabilityRef)object);
}

/* Retains the object if it is a run loop. Returns NULL if it is not. */
static inline SCRunLoopRef reachability_cf_retain_run_loop(CFTypeRef object)
{
    return SCRunLoopRetain((SCRunLoopRef)(uintptr_t)object);
}

/* Objective-C objects, with automatic reference counting or without. */
static inline void reachability_cf_objc_retain(CFTypeRef object)
{
#if defined(REACHABILITY_CF_ARC)
    (void)(__bridge_retained CFTypeRef)(__bridge id)object;
#elif defined(__OBJC__)
    [(id)object retain];
#else
    (void)object;
#endif
}

static inline void reachability_cf_objc_release(CFTypeRef object)
{
#if defined(REACHABILITY_CF_ARC)
    (void)(__bridge_transfer id)object;
#elif defined(__OBJC__)
    [(id)object release];
#else
    (void)object;
#endif
}

/* ---- Objects of any kind */

/* Adds a reference and returns its argument. Unlike Apple's, takes NULL, and so does CFRelease. */
static inline CFTypeRef CFRetain(CFTypeRef object)
{
    struct reachability_cf_string *string = reachability_cf_made(object);

    if (string != NULL)
        __atomic_add_fetch(&string->references, 1, __ATOMIC_RELAXED);
    else if (object != NULL && !reachability_cf_is_string(object) && reachability_cf_retain_target(object) == NULL &&
             reachability_cf_retain_run_loop(object) == NULL)
        reachability_cf_objc_retain(object);
    return object;
}

/* Drops a reference. The last one frees the object. Constant strings stay. */
static inline void CFRelease(CFTypeRef object)
{
    struct reachability_cf_string *string = reachability_cf_made(object);
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;

    if (string != NULL) {
        if (__atomic_sub_fetch(&string->references, 1, __ATOMIC_ACQ_REL) == 0)
            free(string);
    } else if (object == NULL || reachability_cf_is_string(object)) {
        return;
    } else if ((target = reachability_cf_retain_target(object)) != NULL) {
        SCNetworkReachabilityRelease(target);
        SCNetworkReachabilityRelease(target);
    } else if ((loop = reachability_cf_retain_run_loop(object)) != NULL) {
        SCRunLoopRelease(loop);
        SCRunLoopRelease(loop);
    } else {
        reachability_cf_objc_release(object);
    }
}

static inline CFTypeID CFStringGetTypeID(void)
{
    return 7;
}

static inline CFTypeID CFRunLoopGetTypeID(void)
{
    return 2;
}

/* Returns 0 if the object has none of the three types. */
static inline CFTypeID CFGetTypeID(CFTypeRef object)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;

    if (reachability_cf_is_string(object))
        return CFStringGetTypeID();
    if ((target = reachability_cf_retain_target(object)) != NULL) {
        SCNetworkReachabilityRelease(target);
        return SCNetworkReachabilityGetTypeID();
    }
    if ((loop = reachability_cf_retain_run_loop(object)) != NULL) {
        SCRunLoopRelease(loop);
        return CFRunLoopGetTypeID();
    }
    return 0;
}

#ifdef __OBJC__
/* From and to objects of Objective-C. What libreachability makes is none: it takes only CFRetain and CFRelease. */
static inline CFTypeRef CFBridgingRetain(id object)
{
#ifdef REACHABILITY_CF_ARC
    return (__bridge_retained CFTypeRef)object;
#else
    return CFRetain((CFTypeRef)object);
#endif
}

static inline id CFBridgingRelease(CFTypeRef object)
{
#ifdef REACHABILITY_CF_ARC
    return (__bridge_transfer id)object;
#else
    return [(id)object autorelease];
#endif
}
#endif

/* Strings are equal if their text is. Other objects are equal only to themselves. */
static inline SCBoolean CFEqual(CFTypeRef one, CFTypeRef other)
{
    if (one == other)
        return 1;
    return reachability_cf_is_string(one) && reachability_cf_is_string(other) &&
           strcmp((const char *)one + REACHABILITY_CF_BEGIN, (const char *)other + REACHABILITY_CF_BEGIN) == 0;
}

#endif
