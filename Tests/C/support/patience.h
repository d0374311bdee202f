/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PATIENCE_H
#define TESTS_PATIENCE_H

/* How long a test waits for what must happen. */

#include <semaphore.h>
#include <stdlib.h>

/* So long, which is longer where everything takes longer: TEST_TIME_SCALE times. */
static inline double patience_of(double time)
{
    const char *scale = getenv("TEST_TIME_SCALE");

    return scale != NULL ? time * strtod(scale, NULL) : time;
}

/* sem_wait(3) with an end: after a time in which it must have happened it fails the test, with these words. */
void patience_await(sem_t *semaphore, const char *complaint);

#endif
