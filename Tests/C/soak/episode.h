/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_EPISODE_H
#define TESTS_SOAK_EPISODE_H

/* A number of changes in one new namespace, and the checks between them. */

#include "soak/change.h"
#include "soak/targets.h"

#define EPISODE_CHANGES 200 /* at most */

struct episode {
    uint64_t seed; /* of the targets */
    size_t targets;
    change changes[EPISODE_CHANGES];
    size_t count;
};

/* Sums over all episodes. */
struct tally {
    bool is_silent;                                          /* slow checks are not printed */
    unsigned long changes, checks, comparisons, short_lived; /* short_lived: targets of other threads */
    unsigned long networks;                                  /* comparisons of GetNetwork */
    unsigned long floods, overruns;                          /* overruns: floods with lost messages */
    unsigned long lost;                                      /* changes whose messages were lost */
    struct healing healing;
};

/* Makes the changes. Returns the number of changes after which results disagreed, or 0. `verbose`: prints the
 * changes. */
size_t episode_play(const struct episode *episode, bool verbose, struct tally *tally);

#endif
