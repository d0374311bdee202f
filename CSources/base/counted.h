/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_COUNTED_H
#define REACHABILITY_COUNTED_H

/* A reference count as a member of a structure. When the last reference is released, `free` is called with that member;
 * it uses container_of to find the structure. */

#include <stdatomic.h>

#include "base/container_of.h"

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

#endif
