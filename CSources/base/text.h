/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TEXT_H
#define REACHABILITY_TEXT_H

/* Text without a terminator, and the search for a word in an array. */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Text without a terminating NUL. */
struct span {
    const char *start;
    size_t length;
};

/* Whether a text is equal to one of the words of an array. */
#define TEXT_IS_ONE_OF(text, words) text_is_one_of(text, words, sizeof(words) / sizeof(words)[0])
static inline bool text_is_one_of(const char *text, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text[0] == words[i][0] && strcmp(text, words[i]) == 0) /* the first letter avoids most calls */
            return true;
    return false;
}

#endif
