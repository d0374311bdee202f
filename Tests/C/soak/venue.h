/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_VENUE_H
#define TESTS_SOAK_VENUE_H

/* Where targets are scheduled: on a run loop that the test's thread drives, on two that have threads, on the library
 * thread, on a queue. An error fails the test. */

#include <pthread.h>
#include <reachability/reachability.h>
#include <stdbool.h>

#include "support/queue.h"

enum venue {
    VENUE_FETCHED, /* the test's loop: the target has no callback, SCRunLoopCopyNextChange returns it */
    VENUE_DRIVEN,  /* the test's loop */
    VENUE_LOOP,
    VENUE_OTHER_LOOP,
    VENUE_BOTH_LOOPS,
    VENUE_LIBRARY_THREAD,
    VENUE_QUEUE,
    VENUES
};

#define VENUE_THREADS 2

struct venues {
    SCRunLoopRef driven, loops[VENUE_THREADS];
    pthread_t threads[VENUE_THREADS];
    unsigned started;
    struct queue queue;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool stopped, over;
    unsigned waiting; /* threads that have stopped */
};

void venues_open(struct venues *ret);
void venues_close(struct venues *venues);

/* The threads of the loops stop reading, until venues_resume. */
void venues_stop(struct venues *venues);
void venues_resume(struct venues *venues);

/* Each returns false, with SCError, if the library refuses it. */
bool venue_schedule(struct venues *venues, enum venue venue, SCNetworkReachabilityRef target);
bool venue_unschedule(struct venues *venues, enum venue venue, SCNetworkReachabilityRef target);

#endif
