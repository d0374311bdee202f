/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TEXT_H
#define REACHABILITY_TEXT_H

/* Pieces of text, and words of a fixed set. */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Text, not terminated. */
struct span {
    const char *start;
    size_t      length;
};

/* Whether a text is among the words of an array. */
#define TEXT_IS_ONE_OF(text, words) text_is_one_of(text, words, sizeof(words) / sizeof(words)[0])
static inline bool text_is_one_of(const char *text, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

#endif
