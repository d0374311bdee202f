/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_EXECUTOR_H
#define TESTS_SOAK_EXECUTOR_H

/* Where targets are scheduled: on a run loop that the test's thread drives, on two that have threads, on the library
 * thread, on a queue. An error fails the test. */

#include <pthread.h>
#include <reachability/reachability.h>
#include <stdbool.h>

#include "support/queue.h"

enum executor {
    EXECUTOR_FETCHED, /* the test's loop: the target has no callback, SCRunLoopCopyNextChange returns it */
    EXECUTOR_DRIVEN,  /* the test's loop */
    EXECUTOR_LOOP,
    EXECUTOR_OTHER_LOOP,
    EXECUTOR_LIBRARY_THREAD,
    EXECUTOR_QUEUE,
    EXECUTORS
};

#define EXECUTOR_THREADS 2

struct executors {
    SCRunLoopRef driven, loops[EXECUTOR_THREADS];
    pthread_t threads[EXECUTOR_THREADS];
    unsigned started;
    struct queue queue;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool stopped, over;
    unsigned waiting; /* threads that have stopped */
};

void executors_open(struct executors *ret);
void executors_close(struct executors *executors);

/* The threads of the loops stop reading, until executors_resume. */
void executors_stop(struct executors *executors);
void executors_resume(struct executors *executors);

/* Each returns false, with SCError, if the library refuses it. */
bool executor_schedule(struct executors *executors, enum executor executor, SCNetworkReachabilityRef target);
bool executor_unschedule(struct executors *executors, enum executor executor, SCNetworkReachabilityRef target);

#endif
