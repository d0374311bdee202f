/*
 * libFuzzer: the input is a text. Its escaped form has no control character and is UTF-8: escaping it again changes
 * only backslashes.
 *
 * COVERS: pure/escape.c
 */
#include <stdlib.h>
#include <string.h>

#include "pure/escape.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_piece(const char *piece)
{
    for (; *piece != '\0'; piece++) {
        const unsigned char byte = (unsigned char)*piece;

        if (byte < 0x20 || byte == 0x7f)
            abort();
    }
}

static void check_valid(const char *piece)
{
    char again[ESCAPE_SIZE];

    while (*piece != '\0') {
        const char *begin = piece;

        if (!reach_escape_next(&piece, again))
            abort();
        if (*begin != '\\' && memcmp(begin, again, (size_t)(piece - begin)) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    const char *rest = text;
    char piece[ESCAPE_SIZE];

    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    while (reach_escape_next(&rest, piece)) {
        check_piece(piece);
        check_valid(piece);
    }
    if (rest != text + strlen(text))
        abort();
    free(text);
    return 0;
}
