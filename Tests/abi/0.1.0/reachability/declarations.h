#ifndef REACHABILITY_DECLARATIONS_H
#define REACHABILITY_DECLARATIONS_H
#ifdef __cplusplus
#define SC_LINKAGE_BEGIN extern "C" {
#define SC_LINKAGE_END   }
#else
#define SC_LINKAGE_BEGIN
#define SC_LINKAGE_END
#endif
#ifdef __swift__
#define SC_BEGIN_DECLS SC_LINKAGE_BEGIN _Pragma("clang assume_nonnull begin")
#define SC_END_DECLS   _Pragma("clang assume_nonnull end") SC_LINKAGE_END
#else
#define SC_BEGIN_DECLS SC_LINKAGE_BEGIN _Pragma("GCC visibility push(default)")
#define SC_END_DECLS   _Pragma("GCC visibility pop") SC_LINKAGE_END
#endif
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
#define SC_SWIFT_CLASS(retainer, releaser) \
    __attribute__((swift_attr("import_reference"), swift_attr("retain:" #retainer), swift_attr("release:" #releaser), \
                   swift_attr("@Sendable"), swift_attr("final")))
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
