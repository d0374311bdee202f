/* SPDX-License-Identifier: MIT */
/* Escapes for control characters in text. */
#ifdef __linux__
#include "pure/escape.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The number of bytes of the character at `text`; 0: it is not UTF-8. The NUL at the end of a text continues no
 * character. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* by length: a shorter form is invalid */
    const size_t length = text[0] < 0x80   ? 1
                          : text[0] < 0xc2 ? 0
                          : text[0] < 0xe0 ? 2
                          : text[0] < 0xf0 ? 3
                          : text[0] < 0xf5 ? 4
                                           : 0;
    uint32_t code = length < 2 ? text[0] : text[0] & (0x7fu >> length);

    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (length > 1 && (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
        return 0;
    return length;
}

bool reach_escape_next(const char **text, char ret[ESCAPE_SIZE])
{
    static const char escaped[] = "\n\r\t\\", letters[] = "nrt\\";
    const unsigned char *bytes = (const unsigned char *)*text;
    const size_t valid = utf8_length(bytes), length = valid > 0 ? valid : 1;
    const bool is_control = valid == 0 || (valid == 1 && (bytes[0] < 0x20 || bytes[0] == 0x7f)) ||
                            (valid == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0);
    const char *letter = memchr(escaped, bytes[0], sizeof escaped - 1);

    if (bytes[0] == '\0')
        return false;
    if (letter != NULL) {
        snprintf(ret, ESCAPE_SIZE, "\\%c", letters[letter - escaped]);
    } else if (is_control) {
        for (size_t i = 0; i < length; i++)
            snprintf(ret + 4 * i, 5, "\\x%02x", bytes[i]);
    } else {
        memcpy(ret, bytes, length);
        ret[length] = '\0';
    }
    *text += length;
    return true;
}
#endif
