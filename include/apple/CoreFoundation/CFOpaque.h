/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_CFOPAQUE_H
#define REACHABILITY_APPLE_CFOPAQUE_H

#ifdef __cplusplus
#pragma GCC system_header /* no warnings about C casts */
#endif

/*
 * Types of CoreFoundation that sources name beside their reachability code, in wrappers for all types. There are no
 * such objects here. The calls that take or make them are declared and not defined: a program that calls one does not
 * link.
 */

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>

typedef const struct __CFArray *CFArrayRef;
typedef struct __CFArray *CFMutableArrayRef;
typedef struct __CFDictionary *CFMutableDictionaryRef;
typedef const struct __CFNumber *CFNumberRef;
typedef const struct __CFBoolean *CFBooleanRef;
typedef const struct __CFData *CFDataRef;
typedef struct __CFData *CFMutableDataRef;
typedef struct __CFError *CFErrorRef;

typedef CFTypeRef CFPropertyListRef;
typedef CFIndex CFPropertyListFormat;
enum { kCFPropertyListXMLFormat_v1_0 = 100, kCFPropertyListBinaryFormat_v1_0 = 200 };

/* Apple's numbers of the types of number. */
typedef CFIndex CFNumberType;
enum {
    kCFNumberSInt8Type = 1,
    kCFNumberSInt16Type = 2,
    kCFNumberSInt32Type = 3,
    kCFNumberSInt64Type = 4,
    kCFNumberFloat32Type = 5,
    kCFNumberFloat64Type = 6,
    kCFNumberCharType = 7,
    kCFNumberShortType = 8,
    kCFNumberIntType = 9,
    kCFNumberLongType = 10,
    kCFNumberLongLongType = 11,
    kCFNumberFloatType = 12,
    kCFNumberDoubleType = 13,
    kCFNumberCFIndexType = 14
};

typedef const void *(*CFArrayRetainCallBack)(CFAllocatorRef allocator, const void *value);
typedef void (*CFArrayReleaseCallBack)(CFAllocatorRef allocator, const void *value);
typedef CFStringRef (*CFArrayCopyDescriptionCallBack)(const void *value);
typedef SCBoolean (*CFArrayEqualCallBack)(const void *one, const void *other);
typedef struct {
    CFIndex version;
    CFArrayRetainCallBack retain;
    CFArrayReleaseCallBack release;
    CFArrayCopyDescriptionCallBack copyDescription;
    CFArrayEqualCallBack equal;
} CFArrayCallBacks;

typedef CFArrayRetainCallBack CFDictionaryRetainCallBack;
typedef CFArrayReleaseCallBack CFDictionaryReleaseCallBack;
typedef CFArrayCopyDescriptionCallBack CFDictionaryCopyDescriptionCallBack;
typedef CFArrayEqualCallBack CFDictionaryEqualCallBack;
typedef CFHashCode (*CFDictionaryHashCallBack)(const void *value);
typedef struct {
    CFIndex version;
    CFDictionaryRetainCallBack retain;
    CFDictionaryReleaseCallBack release;
    CFDictionaryCopyDescriptionCallBack copyDescription;
    CFDictionaryEqualCallBack equal;
    CFDictionaryHashCallBack hash;
} CFDictionaryKeyCallBacks;
typedef struct {
    CFIndex version;
    CFDictionaryRetainCallBack retain;
    CFDictionaryReleaseCallBack release;
    CFDictionaryCopyDescriptionCallBack copyDescription;
    CFDictionaryEqualCallBack equal;
} CFDictionaryValueCallBacks;

CF_EXTERN_C_BEGIN

extern const CFArrayCallBacks kCFTypeArrayCallBacks;
extern const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
extern const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;
extern const CFBooleanRef kCFBooleanTrue, kCFBooleanFalse;

extern CFArrayRef CFArrayCreate(CFAllocatorRef allocator, const void **values, CFIndex count,
                                const CFArrayCallBacks *callBacks);
extern CFIndex CFArrayGetCount(CFArrayRef array);
extern const void *CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index);

extern CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
                                              const CFArrayCallBacks *callBacks);
extern void CFArrayAppendValue(CFMutableArrayRef array, const void *value);

extern CFDictionaryRef CFDictionaryCreate(CFAllocatorRef allocator, const void **keys, const void **values,
                                          CFIndex count, const CFDictionaryKeyCallBacks *keyCallBacks,
                                          const CFDictionaryValueCallBacks *valueCallBacks);
extern CFIndex CFDictionaryGetCount(CFDictionaryRef dictionary);
extern const void *CFDictionaryGetValue(CFDictionaryRef dictionary, const void *key);

extern CFMutableDictionaryRef CFDictionaryCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
                                                        const CFDictionaryKeyCallBacks *keyCallBacks,
                                                        const CFDictionaryValueCallBacks *valueCallBacks);
extern CFMutableDictionaryRef CFDictionaryCreateMutableCopy(CFAllocatorRef allocator, CFIndex capacity,
                                                            CFDictionaryRef dictionary);
extern void CFDictionarySetValue(CFMutableDictionaryRef dictionary, const void *key, const void *value);

extern CFNumberRef CFNumberCreate(CFAllocatorRef allocator, CFNumberType type, const void *value);
extern SCBoolean CFNumberGetValue(CFNumberRef number, CFNumberType type, void *value);
extern SCBoolean CFBooleanGetValue(CFBooleanRef boolean);

extern CFDataRef CFDataCreate(CFAllocatorRef allocator, const UInt8 *bytes, CFIndex length);
extern const UInt8 *CFDataGetBytePtr(CFDataRef data);
extern CFIndex CFDataGetLength(CFDataRef data);

extern CFDataRef CFPropertyListCreateData(CFAllocatorRef allocator, CFPropertyListRef list, CFPropertyListFormat format,
                                          CFOptionFlags options, CFErrorRef *error);

extern CFErrorRef CFErrorCreate(CFAllocatorRef allocator, CFStringRef domain, CFIndex code, CFDictionaryRef userInfo);
extern CFIndex CFErrorGetCode(CFErrorRef error);

CF_EXTERN_C_END

/* Different from one another, and from the types of all objects. */

static inline CFTypeID CFDictionaryGetTypeID(void)
{
    return 18;
}

static inline CFTypeID CFArrayGetTypeID(void)
{
    return 19;
}

static inline CFTypeID CFDataGetTypeID(void)
{
    return 20;
}

static inline CFTypeID CFBooleanGetTypeID(void)
{
    return 21;
}

static inline CFTypeID CFNumberGetTypeID(void)
{
    return 22;
}

static inline CFTypeID CFErrorGetTypeID(void)
{
    return 27;
}

#endif
