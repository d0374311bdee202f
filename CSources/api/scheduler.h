/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULER_H
#define REACHABILITY_SCHEDULER_H

/* A scheduler of a user's, and the one piece of work that it may have in hand. */

#include <reachability/reachability.h>

#include "base/counted.h"

struct scheduler_work;

/* For a copy of the scheduler, retained. `run` is called where the scheduler runs its work, with a reference to `owner`
 * held, and calls scheduler_work_done. NULL: no memory. */
struct scheduler_work *scheduler_work_create(const SCNetworkReachabilityScheduler *scheduler,
                                             void (*run)(struct counted *owner), struct counted *owner);

/* Hands the owner's work over, on any thread; nothing while it is in hand already, or after the owner let go. Calls
 * `perform`. */
void scheduler_work_post(struct scheduler_work *work, const struct counted *owner);

/* The work is no longer in hand. */
void scheduler_work_done(struct scheduler_work *work);

/* The owner lets go: work in hand will do nothing. The scheduler is released, now or after the work was run. */
void scheduler_work_end(struct scheduler_work *work);

#endif
