/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EXACT_H
#define TESTS_EXACT_H

/* Copies of exact size, so that a sanitizer detects accesses past the end. */

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

/* A copy, which the caller frees: a sanitizer reports every read past its end. */
static inline void *exact_copy(const void *bytes, size_t length)
{
    void *copy = malloc(length == 0 ? 1 : length);

    assert_non_null(copy);
    return memcpy(copy, bytes, length);
}

#endif
