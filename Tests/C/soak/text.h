/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_TEXT_H
#define TESTS_SOAK_TEXT_H

/* A line of text that grows. What does not fit is cut off. */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct text {
    char bytes[1024];
    size_t length;
};

static inline void text_clear(struct text *text)
{
    text->length = 0;
    text->bytes[0] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text->length += (size_t)vsnprintf(text->bytes + text->length, sizeof text->bytes - text->length, format, arguments);
    va_end(arguments);
    if (text->length >= sizeof text->bytes)
        text->length = sizeof text->bytes - 1;
}

#endif
