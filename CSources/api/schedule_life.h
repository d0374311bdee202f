/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULE_LIFE_H
#define REACHABILITY_SCHEDULE_LIFE_H

/* The life of a schedule: it is created, added to its target, removed and released. The target has a state. */

#include "api/schedule.h"

/* `has_scheduler`: the caller then calls schedule_set_scheduler. Returns NULL if there is no memory. */
struct schedule *schedule_create(struct SCNetworkReachability *target, SCRunLoopRef loop, bool has_scheduler);

/* Gives a new schedule its scheduler, and the user of the library thread. Runs the scheduler's retain hook. False: no
 * memory. */
bool schedule_set_scheduler(struct schedule *schedule, const SCNetworkReachabilityScheduler *scheduler,
                            struct library_thread_user *user);

/* Adds a new schedule to its target. Returns 0 or a status; if it fails, nothing has changed. */
int schedule_add_locked(struct schedule *schedule);

/* Removes it. The caller then calls schedule_release_removed, without the lock. */
void schedule_remove_locked(struct schedule *schedule);

/* Releases a schedule that is not its target's. Runs the scheduler's release hook. */
void schedule_release(struct schedule *schedule);

/* Releases a removed schedule, and its reference to the target. If that was the last one, runs the user's hooks. */
void schedule_release_removed(struct schedule *schedule);

/* Returns the target's schedule on a loop; NULL: there is none. */
struct schedule *schedule_find_locked(const struct SCNetworkReachability *target, SCRunLoopRef loop);

/* Returns the schedule with a scheduler. It is the only one then. NULL: the target is on no scheduler. */
struct schedule *schedule_find_scheduler_locked(const struct SCNetworkReachability *target);

#endif
