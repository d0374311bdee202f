/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_COUNTED_H
#define REACHABILITY_COUNTED_H

/* A reference count as a member of a structure, and the type of a public object. When the last reference is released,
 * `free` is called with that member; it uses container_of to find the structure. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct counted {
    atomic_uint references;
    void (*free)(struct counted *counted);
};

static inline void counted_init(struct counted *counted, void (*free)(struct counted *))
{
    atomic_init(&counted->references, 1);
    counted->free = free;
}

static inline void counted_retain(struct counted *counted)
{
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
}

static inline void counted_release(struct counted *counted)
{
    if (atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) == 1)
        counted->free(counted);
}

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
