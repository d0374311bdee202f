/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DELIVERY_H
#define REACHABILITY_DELIVERY_H

/* Callbacks: who is called, when, and on which loop. */

#include "handover.h"
#include "service.h"
#include "surroundings.h"
#include "target.h"

enum { MODE_DEFAULT, MODE_COMMON, MODES };

/*
 * One (target, loop). It is a watch of the loop's monitor, a job while a delivery is due, a change while it waits for
 * SCRunLoopCopyNextChange, and a member of the loop until it ends. References: the target's list holds one, and so does
 * the loop's queue while the job is in it. A schedule holds the target and the loop.
 */
struct schedule {
    struct counted                counted;
    struct list                   node;   /* in target->schedules, under target->lock */
    struct SCNetworkReachability *target;
    SCRunLoopRef                  loop;
    struct handover              *handover;     /* NULL: on a run loop. Constant */
    struct service               *service;      /* whose loop it is, on a scheduler. Likewise */
    unsigned                      times[MODES]; /* under target->lock */
    bool                          active;       /* likewise; false for good once it is unscheduled */
    struct watch                  watch;
    struct job                    job;
    struct list                   change;
    struct member                 member;
    struct resident               resident;     /* of a name that has to be looked up */
};

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
void delivery_owe(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags);
void delivery_owe_locked(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags);

/* What a schedule is run by: its loop, its scheduler (`owner`: that of its handover), its loop's monitor. */
bool delivery_run_job(struct job *job);
void delivery_run_handed(struct counted *owner);
bool delivery_answered(struct watch *watch, const struct path *path, unsigned long answers);

#endif
