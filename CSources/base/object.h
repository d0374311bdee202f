/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_OBJECT_H
#define REACHABILITY_OBJECT_H

/* The word that tells the type of a public object, checked on entry of every public call. */

#include <stdbool.h>
#include <stdint.h>

/* The first word of every public object. It is overwritten when the object is freed. */
enum object_type {
    OBJECT_FREED = 0x46524545,
    OBJECT_TARGET = 0x52454143,
    OBJECT_LOOP = 0x4c4f4f50,
};

/* Whether a pointer that a caller gave us points, as far as can be told, at a living object of this type. */
bool object_is(const void *object, enum object_type type);

#endif
