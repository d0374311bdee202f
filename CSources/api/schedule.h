/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULE_H
#define REACHABILITY_SCHEDULE_H

/* The loops and schedulers that a target is on. api/scheduling.c adds and removes them. */

#include "api/scheduler.h"
#include "api/target.h"
#include "loop/library_thread.h"
#include "names/name_monitor.h"

enum { MODE_DEFAULT, MODE_COMMON, MODES };

/*
 * One (target, loop). It is a watch of the loop's monitor, a job while a delivery is due, a change while it waits for
 * SCRunLoopCopyNextChange, and a member of the loop until it ends. References: the target's list holds one, and so does
 * the loop's queue while the job is in it. A schedule holds the target and the loop.
 */
struct schedule {
    struct counted                counted;
    struct list                   node; /* in target->schedules, under target->lock */
    struct SCNetworkReachability *target;
    SCRunLoopRef                  loop;
    struct scheduler_work        *work;         /* NULL: on a run loop. Constant */
    struct library_thread        *thread;       /* whose loop it is, on a scheduler. Likewise */
    unsigned                      times[MODES]; /* under target->lock */
    bool                          active;       /* likewise; false for good once it is unscheduled */
    struct path_watch             watch;
    struct job                    job;
    struct list                   change;
    struct member                 member;
    struct name_watch             name_watch; /* of a name that has to be looked up */
};

/* Puts the target's present questions, on every loop that it is scheduled on. */
void schedule_put_questions_locked(struct SCNetworkReachability *target);

/* Notes on each when name_look_again_locked is to be called. */
void schedule_set_deadline_locked(struct SCNetworkReachability *target);

/* How many schedules there are, and what their monitors counted. */
struct schedule_summary {
    unsigned                loops, times;
    bool                    handed; /* on a scheduler */
    struct monitor_counters counters;
};
struct schedule_summary schedule_summarize(struct SCNetworkReachability *target);

#endif
