/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_HANDOVER_H
#define REACHABILITY_HANDOVER_H

/* A scheduler of a user's, and the one piece of work that it may have in hand. */

#include <reachability/reachability.h>

#include "util.h"

struct handover;

/* For a copy of the scheduler, retained. `run` is called where the scheduler runs its work, with a reference to `owner`
 * held, and calls handover_done. NULL: no memory. */
struct handover *handover_create(const SCNetworkReachabilityScheduler *scheduler, void (*run)(struct counted *owner),
                                 struct counted *owner);

/* Hands the owner's work over, on any thread; nothing while it is in hand already, or after the owner let go. Calls
 * `perform`. */
void handover_post(struct handover *handover, const struct counted *owner);

/* The work is no longer in hand. */
void handover_done(struct handover *handover);

/* The owner lets go: work in hand will do nothing. The scheduler is released, now or after the work was run. */
void handover_end(struct handover *handover);

#endif
