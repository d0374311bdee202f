/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD under the thread sanitizer. Where threads meet at a Mutex of Swift's Synchronization, the standard
 * library's own code locks and unlocks it, which is not instrumented: the sanitizer would call every such meeting a
 * race. These stand before that code and tell it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define SWIFT(name) __asm__("$s15Synchronization12_MutexHandleV" name)
#define LOCK        "9_lockSlowyys6UInt32VF"
#define UNLOCK      "11_unlockSlowyyF"
#define SELF        __attribute__((swift_context)) void *self
#define SWIFT_CALL  __attribute__((swiftcall))

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

SWIFT_CALL void lock_slow(uint32_t thread, SELF) SWIFT(LOCK);
SWIFT_CALL void unlock_slow(SELF) SWIFT(UNLOCK);

static void *standard_library(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

SWIFT_CALL void lock_slow(uint32_t thread, SELF)
{
    static SWIFT_CALL void (*function)(uint32_t, SELF);

    if (function == NULL)
        function = standard_library("$s15Synchronization12_MutexHandleV" LOCK);
    function(thread, self);
    if (__tsan_acquire != NULL)
        __tsan_acquire(self);
}

SWIFT_CALL void unlock_slow(SELF)
{
    static SWIFT_CALL void (*function)(SELF);

    if (function == NULL)
        function = standard_library("$s15Synchronization12_MutexHandleV" UNLOCK);
    if (__tsan_release != NULL)
        __tsan_release(self);
    function(self);
}
