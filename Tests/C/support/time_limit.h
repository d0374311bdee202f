/* SPDX-License-Identifier: MIT */
#ifndef TESTS_TIME_LIMIT_H
#define TESTS_TIME_LIMIT_H

/* How long a test waits for an event that must come. */

#include <semaphore.h>
#include <stdlib.h>

/* This time in seconds, TEST_TIME_SCALE times as long on slow machines. */
static inline double time_limit_of(double time)
{
    const char *scale = getenv("TEST_TIME_SCALE");

    return scale != NULL ? time * strtod(scale, NULL) : time;
}

/* sem_wait(3) with a time limit, after which it fails the test with this complaint. */
void time_limit_await(sem_t *semaphore, const char *complaint);

#endif
