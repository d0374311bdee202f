/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_SHORT_LIVED_H
#define TESTS_SOAK_SHORT_LIVED_H

/* Threads that make, schedule, unschedule and release targets of their own, on the executors of others. */

#include <semaphore.h>

#include "soak/targets.h"

#define SHORT_LIVED_THREADS 2

struct short_lived {
    struct executors *executors;
    pthread_t threads[SHORT_LIVED_THREADS];
    sem_t turns;
    uint64_t seed;
    atomic_uint started;
    atomic_bool over;
    atomic_ulong ended; /* targets */
};

void short_lived_open(struct short_lived *ret, struct executors *executors, uint64_t seed);
void short_lived_close(struct short_lived *short_lived);

/* One of the threads ends a few of its targets and makes others. */
void short_lived_renew(struct short_lived *short_lived);

#endif
