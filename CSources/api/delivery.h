/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DELIVERY_H
#define REACHABILITY_DELIVERY_H

/* Callbacks: who is called, when, and on which loop. */

#include "api/schedule.h"

/* Whether somebody has yet to be told of the current value. */
bool delivery_is_due_locked(const struct SCNetworkReachability *target);

/* Shows GetFlags the current value, and whether it is due. */
void delivery_publish_locked(struct SCNetworkReachability *target);

/* Takes over an answer, of whichever loop. */
void delivery_set_current_locked(struct SCNetworkReachability *target, const struct path *path);

/* Has one loop look whether a delivery is due. */
void delivery_queue_locked(struct schedule *schedule);

/* Has all of them: the first that is driven makes the call, and the others find nothing left. */
void delivery_queue_everywhere_locked(struct SCNetworkReachability *target);

/* Somebody was handed flags that no callback has told of: one comes, even if they have passed by then. Else who goes by
 * callbacks would keep them. */
void delivery_mark_owed(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags);
void delivery_mark_owed_locked(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags);

/* What a schedule is run by: its loop, its scheduler (`owner`: that of its handover), its loop's monitor. */
bool delivery_run_job(struct job *job);
void delivery_run_handed(struct counted *owner);
bool delivery_answered(struct path_watch *watch, const struct path *path, unsigned long answers);

#endif
