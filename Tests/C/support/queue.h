/* SPDX-License-Identifier: MIT */
#ifndef TESTS_QUEUE_H
#define TESTS_QUEUE_H

/* A scheduler of the tests' own: a list of work, which is run by threads of its own, or by a test when it likes. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <reachability/reachability.h>

#define QUEUE_THREADS 4

struct queue_work {
    void (*run)(void *argument);
    void *argument;
};

struct queue {
    pthread_mutex_t    lock;
    pthread_cond_t     news;
    struct queue_work *works; /* those that wait, the oldest first */
    size_t             count, capacity;
    size_t             most;     /* that ever waited at a time */
    unsigned long      performs; /* so many were handed over in all */
    bool               over;
    pthread_t          threads[QUEUE_THREADS];
    unsigned           thread_count;
    atomic_int         references; /* those of the library */
    atomic_int         releases;
};

/* With no thread it is for the test to run the work. What goes wrong fails the test. The queue stays where it is. */
void queue_open(struct queue *queue, unsigned threads);

/* Runs what still waits, and ends the threads. */
void queue_close(struct queue *queue);

/* With both hooks, which count. */
SCNetworkReachabilityScheduler queue_scheduler(struct queue *queue);
SCBoolean                      queue_set(struct queue *queue, SCNetworkReachabilityRef target);

/* Waits until so many works have been handed over in all; when they are not, it fails the test. */
void          queue_await(struct queue *queue, unsigned long performs);
unsigned long queue_performs(struct queue *queue);
size_t        queue_count(struct queue *queue);
size_t        queue_most(struct queue *queue);

/* Takes the oldest work out, or runs it. False: none waits. */
bool queue_take(struct queue *queue, struct queue_work *ret);
bool queue_run(struct queue *queue);

/* Whether the calling thread runs a work of this queue's. */
bool queue_is_here(const struct queue *queue);

#endif
