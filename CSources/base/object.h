/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_OBJECT_H
#define REACHABILITY_OBJECT_H

/* The type of a public object. Every public call checks it. */

#include <stdbool.h>
#include <stdint.h>

/* The first word of every public object. Freeing the object overwrites it. */
enum object_type {
    OBJECT_FREED = 0x46524545,
    OBJECT_TARGET = 0x52454143,
    OBJECT_LOOP = 0x4c4f4f50,
};

/* Whether a caller's pointer is an object of this type that was not freed. A best effort: a pointer to unmapped memory
 * still crashes. Inline, like process_era: each GetFlags calls it. */
static inline bool object_is(const void *object, enum object_type type)
{
    /* The first page is never mapped, so a small number is not a pointer. Our objects are aligned. */
    if ((uintptr_t)object < 4096 || (uintptr_t)object % _Alignof(void *) != 0)
        return false;
    return *(const volatile uint32_t *)object == (uint32_t)type;
}

#endif
