/* SPDX-License-Identifier: MIT */
/* Escapes for control characters in text. */
#ifdef __linux__
#include "pure/escape.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The number of bytes of a character with this first byte; 0: no character starts with it. */
static size_t length_of_lead(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* The number of bytes of the character at `text`; 0: it is not UTF-8. The NUL at the end of a text continues no
 * character. */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* by length: a shorter form is invalid */
    const size_t length = length_of_lead(text[0]);
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

static bool is_control(const unsigned char *text, size_t length)
{
    const bool is_c1 = length == 2 && text[0] == 0xc2 && text[1] < 0xa0;

    return length == 0 || is_c1 || (length == 1 && (text[0] < 0x20 || text[0] == 0x7f));
}

/* The letter behind the backslash; 0: there is none. */
static char escape_letter(unsigned char byte)
{
    switch (byte) {
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    case '\\':
        return '\\';
    default:
        return 0;
    }
}

static void write_escape(const unsigned char *text, size_t length, char *ret)
{
    const char letter = escape_letter(text[0]);

    if (letter != 0) {
        snprintf(ret, ESCAPE_SIZE, "\\%c", letter);
        return;
    }
    for (size_t i = 0; i < length; i++)
        snprintf(ret + 4 * i, 5, "\\x%02x", text[i]);
}

bool escape_next(const char **text, char ret[ESCAPE_SIZE])
{
    const unsigned char *bytes = (const unsigned char *)*text;
    const size_t valid = utf8_length(bytes), length = valid > 0 ? valid : 1;

    if (bytes[0] == '\0')
        return false;
    if (is_control(bytes, valid) || bytes[0] == '\\') {
        write_escape(bytes, length, ret);
    } else {
        memcpy(ret, bytes, length);
        ret[length] = '\0';
    }
    *text += length;
    return true;
}
#endif
