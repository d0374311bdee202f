/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_WATCHED_H
#define TESTS_SOAK_WATCHED_H

/* A scheduled target, and what it has reported. An error of a call is a complaint (unit.h). */

#include <stdatomic.h>

#include "soak/executor.h"
#include "soak/spec.h"

/* What the callbacks have reported. The target and the watched own it together: the last callback can run after the
 * target was unscheduled. */
struct report {
    atomic_uint references;
    atomic_ullong word; /* the number of callbacks in the upper half, the last flags in the lower half */
    atomic_llong time;  /* of the last callback, in nanoseconds; see watched_now */
};

struct watched {
    SCNetworkReachabilityRef target;
    struct spec spec;
    enum executor executor;
    struct report *report;
};

void watched_open(struct watched *ret, const struct spec *spec, enum executor executor, struct executors *executors);
void watched_close(struct watched *watched, struct executors *executors);

/* SCRunLoopCopyNextChange returned its target, with these flags. */
void watched_note_change(struct watched *watched, SCNetworkReachabilityFlags flags);

/* The flags of the last callback, or those at the beginning. */
SCNetworkReachabilityFlags watched_reported(const struct watched *watched);

/* The number of callbacks. */
unsigned watched_calls(const struct watched *watched);

/* Nanoseconds on CLOCK_MONOTONIC. */
long long watched_now(void);

#endif
