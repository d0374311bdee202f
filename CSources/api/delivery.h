/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DELIVERY_H
#define REACHABILITY_DELIVERY_H

/* Callbacks: when one is due, and on which loop or scheduler it is made. */

#include "api/schedule.h"

/* Returns true if the current value was not delivered yet, or if a delivery is owed. */
bool delivery_is_due_locked(const struct SCNetworkReachability *target);

/* Publishes for GetFlags the current flags, and whether a delivery is due. */
void delivery_publish_locked(struct SCNetworkReachability *target);

/* Sets the result of an evaluation, made on any loop. */
void delivery_set_current_locked(struct SCNetworkReachability *target, const struct path *path);

/* Queues a check on the schedule's loop: it delivers if a delivery is due by then. */
void delivery_queue_locked(struct schedule *schedule);

/* The same on all loops of the target. The first loop that is driven delivers; the others find nothing due. */
void delivery_queue_everywhere_locked(struct SCNetworkReachability *target);

/* Call this when a Get call returns flags that no callback has reported. Then a callback must come, even if the flags
 * change back before it. Otherwise a program that relies on callbacks would keep the outdated flags. */
void delivery_mark_owed(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags);
void delivery_mark_owed_locked(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags);

/* The functions of a schedule's job, scheduler work (`owner`: schedule->counted) and watch. */
bool delivery_run_job(struct job *job);
void delivery_run_work(struct counted *owner);
bool delivery_accept_path(struct path_watch *watch, const struct path *path, unsigned long path_version);

#endif
