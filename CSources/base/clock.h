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

/* When to try again what has failed. The pause doubles with each failure. */
struct retry {
    int64_t at, pause;
};

static inline void retry_later(struct retry *retry, int64_t now, int64_t first, int64_t last)
{
    retry->pause = retry->pause == 0 ? first : clock_earlier(2 * retry->pause, last);
    retry->at = now + retry->pause;
}

/* What was refused may be allowed later: to another user, or by another policy. */
#define REFUSED_FIRST (2 * SECOND)
#define REFUSED_LAST  (60 * SECOND)

#endif
