/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_RANDOM_H
#define TESTS_SOAK_RANDOM_H

/* Random numbers that a seed repeats. */

#include <stdint.h>

/* splitmix64 */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);

    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* A number below `count`, out of random bits that decide further numbers. */
static inline unsigned random_take(uint64_t *bits, unsigned count)
{
    const unsigned value = (unsigned)(*bits % count);

    *bits /= count;
    return value;
}

#endif
