/* SPDX-License-Identifier: MIT */
/* SipHash-2-4, with the test vectors of its authors. */
#include "base/siphash.h"
#include "support/exact.h"
#include "support/unit.h"

/* Of the bytes 0, 1, 2..., with the key 0, 1 ... 15. */
static const struct {
    const char *name;
    size_t length;
    unsigned char result[8]; /* the least significant byte first */
} vectors[] = {
    { "0", 0, { 0x31, 0x0e, 0x0e, 0xdd, 0x47, 0xdb, 0x6f, 0x72 } },
    { "1", 1, { 0xfd, 0x67, 0xdc, 0x93, 0xc5, 0x39, 0xf8, 0x74 } },
    { "7", 7, { 0x37, 0xd1, 0x01, 0x8b, 0xf5, 0x00, 0x02, 0xab } },
    { "8", 8, { 0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93 } },
    { "9", 9, { 0xb0, 0xe4, 0xa9, 0x0b, 0xdf, 0x82, 0x00, 0x9e } },
    { "15", 15, { 0xe5, 0x45, 0xbe, 0x49, 0x61, 0xca, 0x29, 0xa1 } },
    { "16", 16, { 0xdb, 0x9b, 0xc2, 0x57, 0x7f, 0xcc, 0x2a, 0x3f } },
    { "63", 63, { 0x72, 0x45, 0x06, 0xeb, 0x4c, 0x32, 0x8a, 0x95 } },
};

TEST_EACH(a_text_has_the_hash_of_the_test_vector, vectors)
{
    unsigned char key[SIPHASH_KEY_SIZE], text[64];
    uint64_t expected = 0;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)i;
    memcpy(key, text, sizeof key);
    for (size_t i = 0; i < 8; i++)
        expected |= (uint64_t)row->result[i] << (8 * i);
    void *exact = exact_copy(text, row->length);
    assert_true(siphash(exact, row->length, key) == expected);
    free(exact);
}

TEST(the_key_of_a_process_is_random)
{
    static const unsigned char none[SIPHASH_KEY_SIZE];

    assert_memory_not_equal(siphash_process_key(), none, sizeof none);
}
