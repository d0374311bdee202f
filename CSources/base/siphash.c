/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 by Aumasson and Bernstein, for keys and texts as bytes: the result is the same on every machine. */
#ifdef __linux__
#include "base/siphash.h"

#include <endian.h>
#include <string.h>
#include <sys/auxv.h>

/* Inlined everywhere, so that the state stays in registers: twice as fast. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t read_word(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

INLINE uint64_t read_last_bytes(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;

    while (count-- > 0)
        word = word << 8 | bytes[count];
    return word;
}

INLINE uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

INLINE void mix_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

INLINE void mix_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix_round(v);
    mix_round(v);
    v[0] ^= word;
}

uint64_t siphash(const void *bytes, size_t length, const unsigned char key[SIPHASH_KEY_SIZE])
{
    const uint64_t k0 = read_word(key), k1 = read_word(key + 8);
    uint64_t v[4] = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                      k1 ^ 0x7465646279746573 };
    const unsigned char *at = bytes;
    size_t left = length;

    for (; left >= 8; at += 8, left -= 8)
        mix_word(v, read_word(at));
    mix_word(v, (uint64_t)length << 56 | read_last_bytes(at, left));
    v[2] ^= 0xff;
    for (size_t i = 0; i < 4; i++)
        mix_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

const unsigned char *siphash_process_key(void)
{
    static const unsigned char none[SIPHASH_KEY_SIZE]; /* every kernel since 2.6.29 gives a key */
    const unsigned long address = getauxval(AT_RANDOM);

    return address != 0 ? (const unsigned char *)address : none;
}
#endif
