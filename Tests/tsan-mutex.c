/* SPDX-License-Identifier: MIT */
/*
 * Reports the locks of Swift's Mutex to the thread sanitizer; for LD_PRELOAD. When threads contend for a Mutex,
 * functions of Swift's library lock and unlock it. They are not instrumented, so the sanitizer would report races.
 * These functions replace them: they call the originals, and the sanitizer.
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

SWIFT_CALL void lock_contended(uint32_t thread, SELF) SWIFT(LOCK);
SWIFT_CALL void unlock_contended(SELF) SWIFT(UNLOCK);

static void *find_original(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

SWIFT_CALL void lock_contended(uint32_t thread, SELF)
{
    static SWIFT_CALL void (*original)(uint32_t, SELF);

    if (original == NULL)
        original = find_original("$s15Synchronization12_MutexHandleV" LOCK);
    original(thread, self);
    if (__tsan_acquire != NULL)
        __tsan_acquire(self);
}

SWIFT_CALL void unlock_contended(SELF)
{
    static SWIFT_CALL void (*original)(SELF);

    if (original == NULL)
        original = find_original("$s15Synchronization12_MutexHandleV" UNLOCK);
    if (__tsan_release != NULL)
        __tsan_release(self);
    original(self);
}
