/* SPDX-License-Identifier: MIT */
/* Checks the pointers that callers pass. */
#include "base/object.h"

bool object_is(const void *object, enum object_type type)
{
    /* The first page is never mapped, so a small number is not a pointer. Our objects are aligned. */
    if ((uintptr_t)object < 4096 || (uintptr_t)object % _Alignof(void *) != 0)
        return false;
    return *(const volatile uint32_t *)object == (uint32_t)type;
}
