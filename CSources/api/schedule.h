/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULE_H
#define REACHABILITY_SCHEDULE_H

/* A schedule (one target on one loop), and operations on all schedules of a target. api/schedule_life.c adds and
 * removes schedules, api/delivery.c makes their callbacks. */

#include "api/scheduler_work.h"
#include "api/target.h"
#include "loop/library_thread.h"
#include "names/name_monitor.h"
#include "names/network_monitor.h"

enum { MODE_DEFAULT, MODE_COMMON, MODES };

/*
 * References: the target's list holds one, and so does the loop's queue while the job is in it. A schedule holds the
 * target's memory and the loop; an active one also holds the target.
 */
struct schedule {
    struct member                 member; /* of the loop; its job delivers. Its count is that of the schedule */
    struct schedule              *next;   /* of the target's schedules, under its lock; NULL: the last */
    struct SCNetworkReachability *target;
    SCRunLoopRef                  loop;         /* with a scheduler: the library thread's */
    const struct schedule_parts  *parts;        /* constant */
    unsigned                      times[MODES]; /* how often a user scheduled it; under the target's lock */
    /* In the loop's monitor; not if it follows the default path. `active`: the schedule is one of the target's, under
     * its lock; false for good after that. */
    struct path_watch watch;
    struct list       change; /* in the loop's list for SCRunLoopCopyNextChange */
};

/* What only some schedules have. In the memory of the schedule. */
struct schedule_parts {
    struct scheduler_work      *work;        /* NULL: no scheduler, callbacks come on the loop */
    struct library_thread_user *thread_user; /* NULL: no scheduler */
    struct schedule_name       *name;        /* NULL: the target needs no look-ups */
    struct schedule_network    *network;     /* NULL: the target does not report the network */
};

struct schedule_name {
    struct name_watch watch; /* in the loop's name monitor */
};

struct schedule_network {
    struct schedule     *schedule;
    struct network_watch watch; /* in the loop's network monitor */
};

/* Gives the target's questions to every monitor that watches the target. */
void schedule_set_questions_locked(struct SCNetworkReachability *target);

/* Each monitor evaluates the path of the target itself from now on: see name_monitor_follow. Returns 0 or an errno. */
int schedule_watch_own_paths_locked(struct SCNetworkReachability *target);

/* For a target that needs look-ups: sets the time of the next as the deadline in every name monitor. Then
 * name_repeat_lookup_locked is due. */
void schedule_set_lookup_deadline_locked(struct SCNetworkReachability *target);

/* Numbers for GetDescription. */
struct schedule_summary {
    unsigned                loops, times;
    bool                    on_scheduler;
    struct monitor_counters counters; /* sums over the monitors */
};
struct schedule_summary schedule_summarize_locked(struct SCNetworkReachability *target);

#endif
