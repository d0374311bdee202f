/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULER_WORK_H
#define REACHABILITY_SCHEDULER_WORK_H

/* Work for a user's SCNetworkReachabilityScheduler. The scheduler has at most one piece of work of an owner at a
 * time. */

#include <reachability/reachability.h>

#include "base/counted.h"

struct scheduler_work;

/* Copies the scheduler and retains its info. Where the scheduler runs its work, `run` is called with a reference to
 * `owner` held; `run` must call scheduler_work_done. Returns NULL if there is no memory. */
struct scheduler_work *scheduler_work_create(const SCNetworkReachabilityScheduler *scheduler,
                                             void (*run)(struct counted *owner), struct counted *owner);

/* Calls the scheduler's `perform`, on the calling thread. Does nothing if the scheduler already has work of this owner,
 * or after scheduler_work_end. */
void scheduler_work_post(struct scheduler_work *work, const struct counted *owner);

/* From now on work can be posted again. */
void scheduler_work_done(struct scheduler_work *work);

/* Ends the owner's part: work that the scheduler still has does nothing when it runs. The scheduler's info is released
 * now, or after that work ran. */
void scheduler_work_end(struct scheduler_work *work);

#endif
