/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CLOCK_H
#define REACHABILITY_CLOCK_H

/* The clock of all deadlines. */

#include <stdint.h>
#include <time.h>

#define SECOND      INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define NEVER       INT64_MAX

/* Nanoseconds of CLOCK_BOOTTIME. It also counts the time that the machine sleeps, so a deadline can pass meanwhile. */
static inline int64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static inline int64_t clock_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
