/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_TARGETS_H
#define TESTS_SOAK_TARGETS_H

/*
 * All targets of an episode, and the check that they are right. The thread that calls these functions drives one of the
 * loops in them.
 */

#include "soak/healing.h"
#include "soak/results.h"

struct targets {
    struct executors executors;
    struct watched *items;
    struct suspicion *suspicions; /* one for each item */
    size_t count;
    uint64_t random;
    struct healing *healing;
    unsigned long comparisons;
    bool is_silent; /* disagreements that end are not printed */
    bool is_slow;   /* a disagreement was printed in this check */
};

/* `seed` decides what the targets are about. */
void targets_open(struct targets *ret, size_t count, uint64_t seed, struct healing *healing);
void targets_close(struct targets *targets);

/* The next check compares the results of all targets, or also those of targets in this prefix. It always compares those
 * of targets with callbacks since the last check, and of a random sample. */
void targets_suspect_all(struct targets *targets);
void targets_suspect_prefix(struct targets *targets, const char *prefix);

/* Compares until all results agree, or until the time for that is over. Returns NULL, or a target whose results
 * disagree. `acknowledged`: when the kernel acknowledged the last change. */
const struct watched *targets_check(struct targets *targets, long long acknowledged);

/* Drives the test's loop until nothing has happened for these seconds. */
void targets_drive(struct targets *targets, double seconds);

/* Ends one target, and makes another one. */
void targets_renew(struct targets *targets);

#endif
