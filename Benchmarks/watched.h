/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_WATCHED_H
#define BENCHMARKS_WATCHED_H

/*
 * A run loop and the address targets that are scheduled on it. Their addresses are 10.A.B.C with an even B, so that
 * routes with an odd one lie between them. The first is 10.0.0.1; its neighbours in the array are in other prefixes.
 */

#include <reachability/reachability.h>
#include <stdint.h>

#include "bench.h"

#define WATCHED_FIRST   "10.0.0.1/32"
#define WATCHED_BETWEEN "10.%u.%u.0/24" /* for any number below 256, and an odd one */
#define WATCHED_LIMIT   (256 * 128 * 254)

struct watched {
    SCRunLoopRef loop;
    SCNetworkReachabilityRef *targets;
    unsigned count;
    int64_t first_call; /* when the first callback came; 0: none has come */
};

struct watched watched_create(unsigned count);
void watched_release(struct watched *watched);

/* Schedules the targets, with callbacks if wanted, and makes the first passes. */
void watched_schedule(struct watched *watched, bool with_callbacks);
void watched_unschedule(struct watched *watched);

void watched_address(unsigned i, char ret[32]);

/* Handles what is pending, once, and until nothing is. Ends the program if the number of callbacks is wrong. Returns
 * the nanoseconds. */
double watched_perform(struct watched *watched, unsigned expected_calls);
double watched_settle(struct watched *watched, unsigned expected_calls);

/* The number of queries that the loop has sent to the kernel, from SCNetworkReachabilityGetDescription's counter. */
unsigned long watched_queries(const struct watched *watched);

/* Adds or deletes a blackhole route. */
void watched_change(struct writer *writer, const char *prefix, bool add);

/* Change number `i` of a series: adds, then deletes, a route that lies between the targets, or one to 172.16.0.0/12. */
void watched_change_between(struct writer *writer, unsigned i);
void watched_change_elsewhere(struct writer *writer, unsigned i);

/* Deletes or adds the default route. */
void watched_toggle(struct writer *writer, bool add);

#endif
