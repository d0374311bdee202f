/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_HEALING_H
#define TESTS_SOAK_HEALING_H

/*
 * Healing times: from the kernel's acknowledgement of a change to the callback with the right flags. Their
 * distribution, in nanoseconds, with an error of at most an eighth.
 */

#include <stdint.h>

#define HEALING_STEPS 512

struct healing {
    uint64_t counts[HEALING_STEPS], total, longest;
};

void healing_add(struct healing *healing, int64_t nanoseconds);

/* The time, in milliseconds, within which this share of the callbacks came. */
double healing_quantile(const struct healing *healing, double share);

void healing_print(const struct healing *healing);

#endif
