/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_TOGGLE_H
#define BENCHMARKS_TOGGLE_H

/*
 * The time until a listener notices that a default route was deleted or added, from just before the request is sent.
 *
 * Two threads, each on its own processor, the same two for every listener. The writer changes the route while the
 * reader sleeps; the reader only waits. A listener has sockets open only while it is measured, so that the kernel
 * notifies one listener at a time.
 */

#include "bench.h"

/* How a reader notices a change. All three are called on the reader's thread. */
struct listener {
    void (*start)(const char *name); /* of the target; the route exists at first */
    void (*wait)(bool present);      /* returns when the listener knows that the route exists, or does not */
    void (*stop)(void);
};

/* A listener calls this at the moment when it knows: before it returns from `wait`, or in its callback. */
void toggle_noticed(void);

/* Measures one block. Returns the mean of the median latencies of the two directions, in nanoseconds.
 * bench_default_route must exist. */
double toggle_measure(const struct listener *listener, const char *name, struct writer *writer);

extern const struct listener toggle_ours;

#endif
