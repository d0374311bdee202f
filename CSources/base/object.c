/* SPDX-License-Identifier: MIT */
#include "base/object.h"

bool object_is(const void *object, enum object_type type)
{
    /* The first page is never mapped: small numbers are not pointers, and neither is what is not aligned. */
    if ((uintptr_t)object < 4096 || (uintptr_t)object % _Alignof(void *) != 0)
        return false;
    return *(const volatile uint32_t *)object == (uint32_t)type;
}
