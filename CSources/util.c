/* SPDX-License-Identifier: MIT */
#include "util.h"

#include <time.h>

bool object_is(const void *object, enum object_type type)
{
    /* The first page is never mapped: small numbers are not pointers, and neither is what is not aligned. */
    if ((uintptr_t)object < 4096 || (uintptr_t)object % _Alignof(void *) != 0)
        return false;
    return *(const volatile uint32_t *)object == (uint32_t)type;
}

int64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}
