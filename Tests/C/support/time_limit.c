/* SPDX-License-Identifier: MIT */
#include "support/time_limit.h"

#include "support/unit.h"

#define TIME_LIMIT 20 /* seconds: an event that takes longer has failed */

/* helgrind knows the ordering of sem_wait, but not of sem_timedwait. */
static int wait_until(sem_t *semaphore, const struct timespec *end)
{
    const char *under = getenv("TEST_UNDER");

    if (under != NULL && strcmp(under, "helgrind") == 0)
        return sem_wait(semaphore);
    return sem_timedwait(semaphore, end);
}

void time_limit_await(sem_t *semaphore, const char *complaint)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += time_limit_of(TIME_LIMIT);
    while (wait_until(semaphore, &end) != 0)
        if (errno != EINTR)
            fail_msg("%s", complaint);
}
