/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULER_H
#define REACHABILITY_SCHEDULER_H

/* A user's SCNetworkReachabilityScheduler, and the one piece of work that it can have of a schedule. */

#include <reachability/reachability.h>

#include "base/counted.h"

struct scheduler;

/* Copies the scheduler and retains its info. Where it runs its work, `run` is called with a reference to `owner` held.
 * Returns NULL if there is no memory. */
struct scheduler *scheduler_create(const SCNetworkReachabilityScheduler *calls, void (*run)(struct counted *owner),
                                   struct counted *owner);

struct scheduler *scheduler_retain(struct scheduler *scheduler);

/* Calls `perform`, on the calling thread. Does nothing if the scheduler already has work, or after scheduler_end.
 * Consumes a reference. */
void scheduler_post(struct scheduler *scheduler);

/* Ends the owner's part: work that the scheduler still has does nothing when it runs. The info is released now, or
 * after that work ran. */
void scheduler_end(struct scheduler *scheduler);

#endif
