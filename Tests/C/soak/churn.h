/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_CHURN_H
#define TESTS_SOAK_CHURN_H

/* Threads that make, schedule, unschedule and release targets of their own, on the venues of others. */

#include <semaphore.h>

#include "soak/targets.h"

#define CHURN_THREADS 2

struct churn {
    struct venues *venues;
    pthread_t threads[CHURN_THREADS];
    sem_t turns;
    uint64_t seed;
    atomic_uint started;
    atomic_bool over;
    atomic_ulong lives; /* of targets */
};

void churn_open(struct churn *ret, struct venues *venues, uint64_t seed);
void churn_close(struct churn *churn);

/* One of the threads ends a few of its targets and makes others. */
void churn_turn(struct churn *churn);

#endif
