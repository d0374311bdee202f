/* SPDX-License-Identifier: MIT */
#ifndef TESTS_QUEUE_H
#define TESTS_QUEUE_H

/* A scheduler for tests: a list of work, which its own threads or the test run. */

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
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct queue_work *works; /* pending, the oldest first */
    size_t count, capacity;
    size_t most;     /* the maximum number of pending works */
    size_t performs; /* the total number of works */
    bool over;
    pthread_t threads[QUEUE_THREADS];
    unsigned thread_count;
    atomic_int references; /* held by the library */
    atomic_int releases;
};

/* Without a thread the test runs the work. An error fails the test. The queue stays where it is. */
void queue_open(struct queue *queue, unsigned threads);

/* Runs the pending work, ends the threads, and waits until the library has released the queue: its call of `perform`
 * has a reference of its own until it returns. */
void queue_close(struct queue *queue);

/* With both hooks, which count references and releases. */
SCNetworkReachabilityScheduler queue_scheduler(struct queue *queue);
SCBoolean queue_set(struct queue *queue, SCNetworkReachabilityRef target);

/* Waits until the library has queued this many works in total. A time limit fails the test. */
void queue_await(struct queue *queue, unsigned long performs);
size_t queue_performs(struct queue *queue);
size_t queue_count(struct queue *queue);
size_t queue_most(struct queue *queue);

/* Takes out, or runs, the oldest work. False: there is none. */
bool queue_take(struct queue *queue, struct queue_work *ret);
bool queue_run(struct queue *queue);

/* Whether the calling thread runs work of this queue. */
bool queue_is_here(const struct queue *queue);

#endif
