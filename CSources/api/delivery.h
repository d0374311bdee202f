/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DELIVERY_H
#define REACHABILITY_DELIVERY_H

/* Callbacks: when one is due, and on which loop or scheduler it is made. */

#include "api/schedule.h"

/* Returns true if the current value was not delivered yet, or if a delivery is owed. */
bool delivery_is_due_locked(const struct SCNetworkReachability *target);

/* Sets the result of an evaluation for a schedule: what other loops evaluate now is outdated. Publishes it for
 * GetFlags, as the two functions below do. */
void delivery_set_current_locked(struct schedule *schedule, const struct path *path);

/* The program has the current value. */
void delivery_set_delivered_locked(struct SCNetworkReachability *target);

/* A call has returned this path to the program, so only a difference from it makes a callback: also after a schedule
 * that comes later. `extras`: QUERY_FLOW, QUERY_NEXT_HOP, or both: what the first evaluation of a schedule does not
 * read. */
void delivery_settle_locked(struct SCNetworkReachability *target, unsigned extras, const struct path *path);

/* A delivery must come, even if nothing changes. */
void delivery_set_owed_locked(struct SCNetworkReachability *target);

/* Queues a check on the schedule's loop: it delivers if a delivery is due by then. */
void delivery_queue_locked(struct schedule *schedule);

/* The same on all loops of the target. The first loop that is driven delivers; the others find nothing due. */
void delivery_queue_everywhere_locked(struct SCNetworkReachability *target);

/* Both get what a Get call returns. If no callback has reported it yet, one must come, even if the value changes back
 * first. Otherwise a program that relies on callbacks keeps an old value. */

/* Takes no lock: another thread can hold the target's for long. Returns false if the target is not scheduled. */
static inline bool delivery_read_flags(struct SCNetworkReachability *target, SCNetworkReachabilityFlags *ret)
{
    uint64_t published = atomic_load_explicit(&target->published, memory_order_acquire);

    while ((published & (PUBLISHED_DUE | PUBLISHED_READ)) == PUBLISHED_DUE &&
           !atomic_compare_exchange_weak(&target->published, &published, published | PUBLISHED_READ))
        continue;
    if ((published & PUBLISHED_SCHEDULED) == 0)
        return false;
    *ret = (SCNetworkReachabilityFlags)published;
    return true;
}

/* The fast path: returns false if the target is not scheduled, or a delivery is due. */
static inline bool delivery_read_reported_flags(const struct SCNetworkReachability *target,
                                                SCNetworkReachabilityFlags *ret)
{
    const uint64_t published = atomic_load_explicit(&target->published, memory_order_acquire);

    if ((published & (PUBLISHED_SCHEDULED | PUBLISHED_DUE)) != PUBLISHED_SCHEDULED)
        return false;
    *ret = (SCNetworkReachabilityFlags)published;
    return true;
}

/* The target has details. */
void delivery_read_path_locked(struct SCNetworkReachability *target, struct path *ret);

/* The functions of a schedule's job, scheduler work (`owner`: schedule->member.counted) and watch. */
bool delivery_run_job(struct member *member);
void delivery_run_work(struct counted *owner);
void delivery_prefetch(const struct path_watch *watch);
bool delivery_accept_path(struct path_watch *watch, const struct path *path);

/* The same for a pending name that follows the default path. */
void delivery_follow_path(struct schedule *schedule, const struct path *path);

#endif
