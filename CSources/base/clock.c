/* SPDX-License-Identifier: MIT */
/* Reads the clock of all deadlines. */
#include "base/clock.h"

#include <time.h>

int64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}
