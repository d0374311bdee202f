/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CLOCK_H
#define REACHABILITY_CLOCK_H

/* The clock of all deadlines. */

#include <stdint.h>

#define SECOND      INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define NEVER       INT64_MAX

/* Nanoseconds on CLOCK_BOOTTIME: it goes on while the machine sleeps, so that what became due meanwhile is due. */
int64_t clock_now(void);

#endif
