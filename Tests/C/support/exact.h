/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EXACT_H
#define TESTS_EXACT_H

/* Bytes that end where they end. */

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

/* A copy, to be freed, so that a sanitizer sees every byte that is read beyond them. */
static inline void *exact_copy(const void *bytes, size_t length)
{
    void *copy = malloc(length == 0 ? 1 : length);

    assert_non_null(copy);
    return memcpy(copy, bytes, length);
}

#endif
