/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DECLARATIONS_H
#define REACHABILITY_DECLARATIONS_H

/* clang-format off: macros that are no statements */

/*
 * How reachability.h declares things, for C, for C++ and for Swift's importer. Not for use by programs.
 *
 * Swift must never see a typedef named SCNetworkReachabilityRef: its importer takes that name for a CoreFoundation
 * class, does reference counting of its own inside our object, and the process dies. Under __swift__ the structures are
 * declared as foreign reference types instead, with our own Retain and Release.
 */

#ifdef __cplusplus
#define SC_BEGIN_DECLS extern "C" {
#define SC_END_DECLS   }
#else
#define SC_BEGIN_DECLS
#define SC_END_DECLS
#endif

/* A structure that has a size, and nothing else set. In C the field is named. C++11 cannot, and there each further
 * field has a {} of its own: gcc's -Wextra objects to fields that are merely left out. */
#ifdef __cplusplus
#define SC_SIZED(type, ...) \
    { \
        sizeof(type), __VA_ARGS__ \
    }
#else
#define SC_SIZED(type, ...) \
    { \
        .size = sizeof(type) \
    }
#endif

#define SC_EXPORT __attribute__((visibility("default")))

/* Holds at compile time. __extension__: C99 has no _Static_assert, gcc and clang have it in every mode. */
#ifdef __cplusplus
#define SC_ASSERT(condition) static_assert(condition, #condition)
#else
#define SC_ASSERT(condition) __extension__ _Static_assert(condition, #condition)
#endif

#ifdef __swift__

#define SC_NULLABLE           _Nullable
#define SC_NONNULL            _Nonnull
#define SC_SWIFT_NAME(name)   __attribute__((swift_name(#name)))
#define SC_REFINED            __attribute__((swift_private))
#define SC_RETURNS_RETAINED   __attribute__((swift_attr("returns_retained")))
#define SC_RETURNS_UNRETAINED __attribute__((swift_attr("returns_unretained")))
/* Sendable: every call may come from any thread. */
#define SC_SWIFT_CLASS(retainer, releaser) \
    __attribute__((swift_attr("import_reference"), swift_attr("retain:" #retainer), swift_attr("release:" #releaser), \
                   swift_attr("@Sendable")))

#define SC_ENUM(type, name) enum __attribute__((swift_private)) : type
#define SC_FLAGS(name)      enum __attribute__((flag_enum, enum_extensibility(open))) name : uint32_t
#define SC_FLAGS_END(name) \
    ; \
    typedef enum name name
#define SC_OPEN_ENUM(name) enum __attribute__((enum_extensibility(open))) name : uint32_t
#define SC_OPEN_ENUM_END(name) \
    ; \
    typedef enum name name

#else

#define SC_NULLABLE
#define SC_NONNULL
#define SC_SWIFT_NAME(name)
#define SC_REFINED
#define SC_RETURNS_RETAINED
#define SC_RETURNS_UNRETAINED

#define SC_ENUM(type, name) enum
#define SC_FLAGS(name) \
    typedef uint32_t name; \
    enum
#define SC_FLAGS_END(name)
#define SC_OPEN_ENUM(name) \
    typedef uint32_t name; \
    enum
#define SC_OPEN_ENUM_END(name)

#endif

#endif
