/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PART_H
#define REACHABILITY_PART_H

/*
 * Optional parts of a structure, in the memory that follows it: one block, and one allocation.
 *
 * No part may need a larger alignment than PART_ALIGNMENT: whoever makes parts asserts that.
 */

#include <stddef.h>

#define PART_ALIGNMENT _Alignof(long long)

/* The bytes that a part takes, or the structure before the parts. */
static inline size_t part_size(size_t size)
{
    return (size + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

/* The memory after a structure of this size. */
static inline const void *part_after(const void *structure, size_t size)
{
    return (const char *)structure + part_size(size);
}

/* Returns the place of the next part; NULL if its size is 0. */
static inline void *part_take(char **next, size_t size)
{
    void *const part = size == 0 ? NULL : *next;

    *next += part_size(size);
    return part;
}

#endif
