/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_CFSTRING_H
#define REACHABILITY_APPLE_CFSTRING_H

#ifdef __cplusplus
#pragma GCC system_header /* no warnings about C casts */
#endif

/*
 * Strings of CoreFoundation: constant ones, those that a program makes, and the calls that print them. Their text is
 * UTF-8. A string is not an NSString. A text with a NUL ends there.
 */

#include <CoreFoundation/CFBase.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

typedef UInt32 CFStringEncoding;
typedef CFOptionFlags CFStringCompareFlags;
typedef const struct __CFDictionary *CFDictionaryRef; /* for CFStringCreateWithFormat: NULL */

enum { kCFStringEncodingMacRoman = 0, kCFStringEncodingASCII = 0x0600, kCFStringEncodingUTF8 = 0x08000100 };
enum { kCFCompareCaseInsensitive = 1 };
enum { kCFNotFound = -1 };

/* A constant string. Its argument is a literal. It may initialize a static variable. */
#define CFSTR(literal) ((CFStringRef)(const void *)(REACHABILITY_CF_CONSTANT "" literal))

/* ASCII and MacRoman are the same for a text of ASCII characters. */
static inline SCBoolean reachability_cf_fits_encoding(const char *text, CFStringEncoding encoding)
{
    if (encoding == kCFStringEncodingUTF8)
        return 1;
    if (encoding != kCFStringEncodingASCII && encoding != kCFStringEncodingMacRoman)
        return 0;
    while (*text != '\0' && (unsigned char)*text < 128)
        text++;
    return *text == '\0';
}

/* Returns the text, in the memory of the string. NULL: not a string, or the encoding lacks some of its characters. */
static inline const char *CFStringGetCStringPtr(CFStringRef string, CFStringEncoding encoding)
{
    const char *text = (const char *)string + REACHABILITY_CF_BEGIN;

    return reachability_cf_is_string(string) && reachability_cf_fits_encoding(text, encoding) ? text : NULL;
}

/* Copies the text with its NUL. Returns FALSE if it does not fit, or if CFStringGetCStringPtr returns NULL. */
static inline SCBoolean CFStringGetCString(CFStringRef string, char *buffer, CFIndex size, CFStringEncoding encoding)
{
    const char *text = CFStringGetCStringPtr(string, encoding);

    if (text == NULL || buffer == NULL || size <= 0 || strlen(text) >= (size_t)size)
        return 0;
    memcpy(buffer, text, strlen(text) + 1);
    return 1;
}

/* In UTF-16 units, as on Apple's systems. */
static inline CFIndex CFStringGetLength(CFStringRef string)
{
    const char *text = CFStringGetCStringPtr(string, kCFStringEncodingUTF8);
    CFIndex length = 0;

    for (; text != NULL && *text != '\0'; text++)
        length += ((unsigned char)*text & 0xC0) == 0x80 ? 0 : (unsigned char)*text >= 0xF0 ? 2 : 1;
    return length;
}

static inline CFIndex CFStringGetMaximumSizeForEncoding(CFIndex length, CFStringEncoding encoding)
{
    return encoding == kCFStringEncodingUTF8 ? 3 * length : length;
}

/* A string without text, for `length` bytes of text and a NUL. NULL: no memory. */
static inline struct reachability_cf_string *reachability_cf_make(size_t length)
{
    struct reachability_cf_string *string = (struct reachability_cf_string *)calloc(
        1, sizeof *string + REACHABILITY_CF_BEGIN + length);

    if (string != NULL) {
        string->references = 1;
        memcpy(string->text, REACHABILITY_CF_MADE, REACHABILITY_CF_BEGIN);
    }
    return string;
}

static inline CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text,
                                                    CFStringEncoding encoding)
{
    struct reachability_cf_string *string = NULL;

    (void)allocator;
    if (text != NULL && reachability_cf_fits_encoding(text, encoding))
        string = reachability_cf_make(strlen(text));
    if (string == NULL)
        return NULL;
    memcpy(string->text + REACHABILITY_CF_BEGIN, text, strlen(text));
    return (CFStringRef)(const void *)string->text;
}

static inline CFStringRef CFStringCreateCopy(CFAllocatorRef allocator, CFStringRef string)
{
    return CFStringCreateWithCString(allocator, CFStringGetCStringPtr(string, kCFStringEncodingUTF8),
                                     kCFStringEncodingUTF8);
}

/* As printf(3) writes. There is no %@: a format with it gives NULL. */
static inline CFStringRef CFStringCreateWithFormatAndArguments(CFAllocatorRef allocator, CFDictionaryRef options,
                                                               CFStringRef format, va_list arguments)
{
    const char *text = CFStringGetCStringPtr(format, kCFStringEncodingUTF8);
    struct reachability_cf_string *string;
    va_list again;
    int length;

    (void)allocator, (void)options;
    if (text == NULL || strstr(text, "%@") != NULL)
        return NULL;
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, text, again);
    va_end(again);
    if (length < 0 || (string = reachability_cf_make((size_t)length)) == NULL)
        return NULL;
    vsnprintf(string->text + REACHABILITY_CF_BEGIN, (size_t)length + 1, text, arguments);
    return (CFStringRef)(const void *)string->text;
}

static inline CFStringRef CFStringCreateWithFormat(CFAllocatorRef allocator, CFDictionaryRef options,
                                                   CFStringRef format, ...)
{
    CFStringRef string;
    va_list arguments;

    va_start(arguments, format);
    string = CFStringCreateWithFormatAndArguments(allocator, options, format, arguments);
    va_end(arguments);
    return string;
}

/* The only option that counts is kCFCompareCaseInsensitive, for ASCII. */
static inline CFComparisonResult CFStringCompare(CFStringRef one, CFStringRef other, CFStringCompareFlags options)
{
    const char *first = CFStringGetCStringPtr(one, kCFStringEncodingUTF8);
    const char *second = CFStringGetCStringPtr(other, kCFStringEncodingUTF8);
    int order;

    if (first == NULL || second == NULL)
        order = (first != NULL) - (second != NULL);
    else
        order = options & kCFCompareCaseInsensitive ? strcasecmp(first, second) : strcmp(first, second);
    return order < 0 ? kCFCompareLessThan : order > 0 ? kCFCompareGreaterThan : kCFCompareEqualTo;
}

/* A new string: the text of a string, or a description of a target. */
static inline CFStringRef CFCopyDescription(CFTypeRef object)
{
    SCNetworkReachabilityRef target;
    struct reachability_cf_string *string = NULL;
    size_t length;

    if (reachability_cf_is_string(object))
        return CFStringCreateCopy(NULL, (CFStringRef)object);
    if ((target = reachability_cf_retain_target(object)) == NULL)
        return CFStringCreateWithFormat(NULL, NULL, CFSTR("<CFType %p>"), object);
    length = SCNetworkReachabilityGetDescription(target, NULL, 0);
    if ((string = reachability_cf_make(length)) != NULL)
        SCNetworkReachabilityGetDescription(target, string->text + REACHABILITY_CF_BEGIN, length + 1);
    SCNetworkReachabilityRelease(target);
    return string == NULL ? NULL : (CFStringRef)(const void *)string->text;
}

/* Writes the description and a new line to the standard error. */
static inline void CFShow(CFTypeRef object)
{
    CFStringRef text = object == NULL ? NULL : CFCopyDescription(object);

    fprintf(stderr, "%s\n", text == NULL ? "(null)" : CFStringGetCStringPtr(text, kCFStringEncodingUTF8));
    CFRelease(text);
}

#endif
