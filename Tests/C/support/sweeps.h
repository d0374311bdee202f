/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SWEEPS_H
#define TESTS_SWEEPS_H

/* The time for sweeps, in place of a part of the processor's: without a limit, or none. So the counts of a test do not
 * depend on the machine. The program that includes this links with -Wl,--wrap=reach_budget_next. */

#include <stdbool.h>

#include "base/clock.h"
#include "support/wrap.h"
#include "watch/budget.h"

static bool sweeps_are_off;

WRAP(int64_t, reach_budget_next, struct budget *budget)
{
    (void)budget;
    return sweeps_are_off ? NEVER : 0;
}

#endif
