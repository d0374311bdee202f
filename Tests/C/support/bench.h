/* SPDX-License-Identifier: MIT */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

/* A target, the way in which its callbacks are delivered, and the arguments of its callback. For tests whose set-up is
 * observer_open. */

#include "support/observer.h"
#include "support/queue.h"

enum bench_way {
    BENCH_LOOP,      /* a run loop that the test drives */
    BENCH_SCHEDULER, /* a scheduler whose work the test runs */
    BENCH_THREAD     /* a scheduler whose work another thread runs, when the test wants it */
};

/* For TEST_EACH. */
struct bench_row {
    const char *name;
    enum bench_way way;
};
extern const struct bench_row bench_rows[3];

struct bench {
    enum bench_way way;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;  /* BENCH_LOOP */
    struct queue queue; /* the others */
    int calls;
    SCNetworkReachabilityFlags flags;    /* of the last call */
    bool elsewhere;                      /* a call came outside the work of the queue, or for another target */
    void (*inside)(struct bench *bench); /* called in each callback */
    void *more;                          /* for `inside`, like the fields below */
    int result;
    struct unit_deferral *close;
};

/* Schedules the target, and takes over the reference to it. The bench stays where it is to the end of the test, which
 * closes it. */
void bench_open(struct bench *bench, enum bench_way way, SCNetworkReachabilityRef target);
/* The same without a callback. */
void bench_open_silent(struct bench *bench, enum bench_way way, SCNetworkReachabilityRef target);
/* The same on a loop with other targets. Makes the first pass of the loop: later changes are reported. */
void bench_open_on(struct bench *bench, SCRunLoopRef loop, SCNetworkReachabilityRef target);
void bench_close(struct bench *bench);

void bench_set_callback(struct bench *bench);
/* The callback that bench_open sets. Its info is the bench. */
void bench_called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *bench);
void bench_schedule(struct bench *bench);
bool bench_unschedule(struct bench *bench);

/* One callback comes, with these flags. On a scheduler, one work is pending or comes soon. */
void bench_expect_call(struct bench *bench, SCNetworkReachabilityFlags flags);

/* Earlier changes make no callback; with bench_expect_idle, also no work for a scheduler. */
void bench_expect_quiet(struct bench *bench);
void bench_expect_idle(struct bench *bench);

/* The library refused the arguments. */
void bench_expect_refused(SCBoolean result);

#endif
