/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_TOGGLE_H
#define BENCHMARKS_TOGGLE_H

/*
 * A default route goes and comes: how long until a listener knows, counted from just before the change is sent.
 *
 * Two threads, each on a processor of its own, the same two for every listener: the writer changes the route once the
 * reader sleeps, the reader does nothing but wait. A listener has its sockets open only while it is measured, so that
 * the kernel tells one at a time.
 */

#include "bench.h"

/* How a reader learns of a change. All three are called on the reader's thread. */
struct listener {
    void (*start)(const char *name); /* of the target; the route is there at first */
    void (*wait)(bool present);      /* returns once it is known that the route is there, or is not */
    void (*stop)(void);
};

/* Called by a listener, on its way out of `wait` or in a callback inside: now it knows. */
void toggle_heard(void);

/* One block: the median latency of each direction, as the two differ, and of those the mean. In nanoseconds. The
 * default route, bench_default_route, must be there. */
double toggle_measure(const struct listener *listener, const char *name, struct writer *writer);

extern const struct listener toggle_ours;

#endif
