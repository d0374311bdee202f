/* SPDX-License-Identifier: MIT */
/*
 * The processor time of sweeps. A program that has been idle sweeps at once, and one on a host where links come and go
 * all the time never spends more than its share.
 *
 * What this file must never do: count the time of what a message marks. That is never late.
 */
#ifdef __linux__
#include "watch/budget.h"

#include "base/clock.h"

#define SHARE      200 /* one of so many parts of a processor */
#define SAVED_MOST (100 * MILLISECOND)

int64_t reach_budget_next(struct budget *budget)
{
    const int64_t now = clock_now();

    budget->saved = clock_earlier(budget->saved + (now - budget->counted_at) / SHARE, SAVED_MOST);
    budget->counted_at = now;
    return budget->saved > 0 ? 0 : now + (1 - budget->saved) * SHARE + MILLISECOND;
}

static int64_t processor_time(void)
{
    struct timespec time = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

void reach_budget_begin(struct budget *budget)
{
    budget->began = processor_time();
}

void reach_budget_end(struct budget *budget)
{
    budget->saved -= processor_time() - budget->began;
}
#endif
