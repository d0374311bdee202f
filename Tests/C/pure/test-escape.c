/* SPDX-License-Identifier: MIT */
/* Escapes for control characters. No kernel. */
#include "pure/escape.h"
#include "support/unit.h"

static void expect_escaped(const char *text, const char *wanted)
{
    char piece[ESCAPE_SIZE], escaped[256] = "";

    while (reach_escape_next(&text, piece))
        strcat(escaped, piece);
    assert_string_equal(escaped, wanted);
    assert_int_equal(*text, '\0');
}

TEST(text_without_control_characters_is_not_changed)
{
    static const char *const texts[] = {
        "",
        "example.com",
        "a b",
        " !\"#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~",
        "z\xc3\xbcrich.example", /* LATIN SMALL LETTER U WITH DIAERESIS */
        "\xc2\xa0",              /* the first character after C1 */
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_escaped(texts[i], texts[i]);
}

TEST(control_characters_are_escaped)
{
    expect_escaped("a\nb\rc\td", "a\\nb\\rc\\td");
    expect_escaped("\x1b[31m", "\\x1b[31m");
    expect_escaped("\x01\x1f\x7f", "\\x01\\x1f\\x7f");
    expect_escaped("\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
}

TEST(a_backslash_is_escaped_so_that_escapes_are_unambiguous)
{
    expect_escaped("a\\nb", "a\\\\nb");
    expect_escaped("\\x1b", "\\\\x1b");
}

TEST(bytes_that_are_not_utf8_are_escaped)
{
    expect_escaped("\x80", "\\x80");
    expect_escaped("\xff\xfe", "\\xff\\xfe");
    expect_escaped("\x9b[31m", "\\x9b[31m"); /* C1 in ISO 8859 */
    expect_escaped("a\xc3", "a\\xc3");       /* the text ends inside a character */
    expect_escaped("\xe2\x82z", "\\xe2\\x82z");
    expect_escaped("\xf0\x9f\x98", "\\xf0\\x9f\\x98");
    expect_escaped("\xc0\x8a", "\\xc0\\x8a"); /* a longer form of a newline */
    expect_escaped("\xe0\x82\x9b", "\\xe0\\x82\\x9b");
    expect_escaped("\xf0\x80\x82\x9b", "\\xf0\\x80\\x82\\x9b");
    expect_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
    expect_escaped("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
    expect_escaped("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
}

/* Each pair of bytes, in a buffer of exactly its size: a sanitizer detects reads beyond it. */
TEST(no_byte_beyond_the_end_is_read)
{
    for (unsigned first = 1; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            char *text = malloc(3), piece[ESCAPE_SIZE];
            const char *rest = text;

            assert_non_null(text);
            text[0] = (char)first;
            text[1] = (char)second;
            text[2] = '\0';
            while (reach_escape_next(&rest, piece))
                for (const char *c = piece; *c != '\0'; c++)
                    assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
            assert_int_equal(rest - text, strlen(text));
            free(text);
        }
    }
}
