/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULE_H
#define REACHABILITY_SCHEDULE_H

/* A schedule (one target on one loop), and operations on all schedules of a target. api/schedule_calls.c adds and
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
    struct counted                counted;
    struct list                   node; /* in target->schedules, under target->lock */
    struct SCNetworkReachability *target;
    SCRunLoopRef                  loop;         /* with a scheduler: the library thread's */
    struct scheduler_work        *work;         /* NULL: no scheduler, callbacks come on the loop. Constant */
    struct library_thread_user   *thread_user;  /* NULL: no scheduler. Constant */
    unsigned                      times[MODES]; /* how often a user scheduled it; under target->lock */
    bool                          active;       /* in the target's list, under target->lock; false for good after it */
    struct path_watch             watch;        /* in the loop's monitor */
    struct job                    job;          /* in the loop's queue while a delivery is due */
    struct list                   change;       /* in the loop's list for SCRunLoopCopyNextChange */
    struct member                 member;       /* of the loop */
    /* These follow, if the target needs look-ups, and if it has notify_network. Else NULL. */
    struct schedule_name    *name;
    struct schedule_network *network;
};

struct schedule_name {
    struct schedule  *schedule;
    struct name_watch watch; /* in the loop's name monitor */
};

struct schedule_network {
    struct schedule     *schedule;
    struct network_watch watch; /* in the loop's network monitor */
};

/* Gives the target's questions to every monitor that watches the target. */
void schedule_set_questions_locked(struct SCNetworkReachability *target);

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
