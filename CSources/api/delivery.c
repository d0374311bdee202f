/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: when one is due, and where it is made: by a job of the loop, or by work of the scheduler.
 *
 * What this file must never do: call user code (callback or hook) with a lock held, deliver anything but the current
 * value, or make two callbacks of one target at the same time.
 */
#ifdef __linux__
#include "api/target.h"

#include <errno.h>

#include "base/error.h"
#include "base/probes.h"
#include "pure/next_hop.h"
#include "route/route_query.h"

/* A target that gets a callback: what is queued for SCRunLoopCopyNextChange is not replayed to it. */
SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct callback fresh = { 0 }, before;
    struct schedule *schedule;
    int error = 0;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0)
        error = reach_error_invalid("context->version: not 0");
    else if (callout != NULL)
        error = reach_callback_create(callout, context, &fresh);
    if (error == 0 && target_is_inherited(self)) { /* a fork inside the retain hook */
        callback_release(&fresh);
        error = ECHILD;
    }
    if (error != 0) {
        reach_error_set(error);
        return 0;
    }
    target_lock(self);
    schedule = self->schedule;
    if (callout != NULL && schedule != NULL && !schedule->watch.has_job)
        reach_runloop_cancel(schedule->loop, &schedule->member);
    if (callout != NULL && self->change_queued)
        reach_delivery_set_delivered_locked(self);
    before = self->callback;
    self->callback = fresh;
    target_unlock(self);
    callback_release(&before);
    return 1;
}

/* ---- What is due ------------------------------------------------------------------------------------------------ */

/* `path`: the path of which `outcome` is a part. */
static bool differs(const struct SCNetworkReachability *target, const struct outcome *from,
                    const struct outcome *outcome, const struct path *path_from, const struct path *path)
{
    if (target->details != NULL)
        return reach_details_differ(from, outcome, path_from, path);
    return reach_outcome_differs(from, outcome) || (target->reports_flow && reach_outcome_flow_differs(from, outcome));
}

bool reach_delivery_is_due_locked(const struct SCNetworkReachability *target)
{
    const struct details *details = target->details;

    return target->owed || target->hop.failed != target->hop.delivered ||
           differs(target, &target->delivered, &target->current, details == NULL ? NULL : &details->delivered,
                   details == NULL ? NULL : &details->current);
}

/* Returns the previous word. */
static uint64_t publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = reach_delivery_is_due_locked(target) ? PUBLISHED_DUE : 0;

    return atomic_exchange(&target->published, PUBLISHED_SCHEDULED | due | target->current.flags);
}

/* Returns whether there is news of the next hop. See enum hop_state. */
static bool follow_hop(struct SCNetworkReachability *target, const struct path *path)
{
    struct target_hop *hop = &target->hop;
    const bool had_failed = hop->failed;
    struct address address;

    if (!target->notify_next_hop)
        return false;
    target->owed = target->owed || path->left_failed_hop;
    if (!reach_next_hop_find(path, &address))
        address = (struct address){ 0 };
    if (path->index != hop->index || !reach_address_equal(&address, &hop->address)) {
        hop->address = address;
        hop->index = path->index;
        hop->failed = false;
    }
    if (path->hop == PATH_HOP_RESPONDS || path->hop == PATH_HOP_FAILED)
        hop->failed = path->hop == PATH_HOP_FAILED;
    if (path->hop != PATH_HOP_UNREAD && hop->state != HOP_SETTLED) {
        if (hop->state == HOP_UNREAD)
            hop->delivered = hop->failed;
        else if (path->hop == PATH_HOP_UNKNOWN)
            hop->failed = false; /* the kernel has forgotten it, and the monitor would not notice that it responds */
        hop->state = HOP_SETTLED;
    }
    return hop->failed != had_failed || path->left_failed_hop;
}

void reach_delivery_set_current_locked(struct schedule *schedule, const struct path *path)
{
    struct SCNetworkReachability *target = schedule->target;
    const struct outcome outcome = path_outcome(path);
    struct details *details = target->details;

    if (follow_hop(target, path) || target->owed_next ||
        differs(target, &target->current, &outcome, details == NULL ? NULL : &details->current, path))
        target->change_queued = false;
    target->current = outcome;
    /* The first evaluation reads neither rules nor the kinds of links, so that Schedule does not wait for RTNL. What
     * the second one finds is no change. */
    if (target->delivered.flow_unsettled && !outcome.flow_unsettled) {
        target->delivered.flow = outcome.flow;
        target->delivered.flow_unsettled = false;
    }
    if (details != NULL)
        details->current = *path;
    target->evaluations++;
    target->owed = target->owed || target->owed_next;
    target->owed_next = false;
    /* GetFlags has returned a value that no callback has reported. */
    if ((publish_locked(target) & PUBLISHED_READ) != 0 && !target->owed) {
        target->owed = true;
        publish_locked(target);
    }
}

void reach_delivery_set_delivered_locked(struct SCNetworkReachability *target)
{
    target->delivered = target->current;
    if (target->details != NULL)
        target->details->delivered = target->details->current;
    target->hop.delivered = target->hop.failed;
    target->owed = target->change_queued = false;
    publish_locked(target);
}

void reach_delivery_settle(struct SCNetworkReachability *target, unsigned extras, const struct path *path)
{
    struct target_hop *hop = &target->hop;
    bool scheduled;

    if (!target->notify_next_hop && !target->reports_flow)
        return;
    target_lock(target);
    scheduled = target->schedule != NULL;
    if ((extras & QUERY_NEXT_HOP) != 0 && target->notify_next_hop && !(scheduled && hop->state == HOP_SETTLED)) {
        hop->index = path->index;
        if (!reach_next_hop_find(path, &hop->address))
            hop->address = (struct address){ 0 };
        hop->state = HOP_RETURNED;
        hop->failed = hop->delivered = path->next_hop == kSCNetworkReachabilityNextHopFailed;
    }
    if ((extras & QUERY_FLOW) != 0 && target->reports_flow && !path->flow_unsettled &&
        !(scheduled && !target->delivered.flow_unsettled)) {
        target->delivered.flow = (uint8_t)path->flow;
        target->delivered.flow_unsettled = false;
    }
    target_unlock(target);
}

void reach_delivery_set_owed_locked(struct SCNetworkReachability *target)
{
    target->owed = true;
    publish_locked(target);
}

void reach_delivery_queue_locked(struct schedule *schedule)
{
    if (schedule->watch.has_job)
        return;
    schedule->watch.has_job = reach_runloop_add_job(schedule->loop, &schedule->member);
    if (!schedule->watch.has_job)
        schedule->target->change_queued = true;
}

void reach_delivery_read_path_locked(struct SCNetworkReachability *target, struct path *ret)
{
    *ret = target->details->current;
    if (reach_delivery_is_due_locked(target))
        target->owed = true; /* it is queued already, or posted to the scheduler */
}

/* ---- Delivery --------------------------------------------------------------------------------------------------- */

/* Does nothing if the current value is queued already: then it is no news. Or the job is queued: it will do this. */
static void queue_change_locked(struct schedule *schedule)
{
    if (schedule->target->change_queued || schedule->watch.has_job)
        return;
    schedule->target->change_queued = true;
    reach_runloop_add_change(schedule->loop, &schedule->member);
}

/* The schedule's job, or its work on a scheduler. Consumes a reference to the schedule. Returns true if it made a
 * callback. */
static bool deliver(struct schedule *schedule, bool on_scheduler)
{
    struct SCNetworkReachability *target = schedule->target;
    SCNetworkReachabilityFlags flags = 0;
    struct callback callback = { 0 };
    bool calls = false, posts = false;

    target_lock(target);
    if (!on_scheduler)
        schedule->watch.has_job = false;
    /* When a running delivery ends, it checks whether the next one is due. */
    if (target->schedule != schedule || target->is_delivering || !reach_delivery_is_due_locked(target)) {
        ;
    } else if (target->callback.function == NULL && schedule->scheduler == NULL) {
        queue_change_locked(schedule);
    } else if (target->callback.function == NULL) {
        reach_delivery_set_delivered_locked(target); /* SCRunLoopCopyNextChange cannot fetch it */
    } else if (schedule->scheduler != NULL && !on_scheduler) {
        reach_scheduler_retain(schedule->scheduler);
        posts = true;
    } else {
        reach_delivery_set_delivered_locked(target);
        target->is_delivering = calls = true;
        target_retain(target);
        target->deliveries++;
        callback = target->callback;
        flags = target->current.flags;
        callback_retain(&callback);
        probe_delivery(target, flags);
    }
    target_unlock(target);
    if (calls)
        callback.function(target, flags, callback.info);
    if (posts)
        reach_scheduler_post(schedule->scheduler);
    if ((calls || on_scheduler) && !target_is_inherited(target)) { /* no fork in the callback */
        target_lock(target);
        if (calls)
            target->is_delivering = false;
        if (!target->is_delivering && target->schedule != NULL && reach_delivery_is_due_locked(target))
            reach_delivery_queue_locked(target->schedule);
        target_unlock(target);
    }
    if (calls)
        reach_target_release(target);
    counted_release(&schedule->member.counted);
    return calls;
}

/* On the thread that drives the loop. */
bool reach_delivery_run_job(struct member *member)
{
    return deliver(container_of(member, struct schedule, member), false);
}

/* Where the scheduler runs its work. */
void reach_delivery_run_work(struct counted *owner)
{
    struct schedule *schedule = container_of(owner, struct schedule, member.counted);

    if (target_is_inherited(schedule->target))
        return;
    counted_retain(owner);
    (void)deliver(schedule, true);
}

/* ---- Paths ------------------------------------------------------------------------------------------------------ */

void reach_delivery_prefetch(const struct path_watch *watch)
{
    enum { CACHE_LINE = 64 };
    const struct SCNetworkReachability *target = container_of(watch, const struct schedule, watch)->target;

    for (size_t line = 0; line < sizeof *target; line += CACHE_LINE)
        __builtin_prefetch((const char *)target + line, 1);
}

/* On the thread that drives the loop. A change that SCRunLoopCopyNextChange will return needs no job. */
static void accept_locked(struct schedule *schedule, const struct path *path)
{
    struct SCNetworkReachability *target = schedule->target;

    reach_delivery_set_current_locked(schedule, path);
    if (target->change_queued || target->is_delivering || !reach_delivery_is_due_locked(target))
        return;
    if (target->callback.function == NULL && schedule->scheduler == NULL)
        queue_change_locked(schedule);
    else
        reach_delivery_queue_locked(schedule);
}

/* The loop's monitor evaluated the target. */
bool reach_delivery_accept_path(struct path_watch *watch, const struct path *path)
{
    struct schedule *schedule = container_of(watch, struct schedule, watch);
    bool is_newest;

    target_lock(schedule->target);
    is_newest = !atomic_load(&watch->outdated);
    if (schedule->target->schedule == schedule && is_newest)
        accept_locked(schedule, path);
    target_unlock(schedule->target);
    return is_newest;
}

/* The name may have been resolved meanwhile. */
void reach_delivery_follow_path(struct schedule *schedule, const struct path *path)
{
    struct path adjusted = *path;

    target_lock(schedule->target);
    if (schedule->target->schedule == schedule && schedule->watch.monitor == NULL) {
        reach_questions_adjust_path(schedule->target->initial, &adjusted);
        accept_locked(schedule, &adjusted);
    }
    target_unlock(schedule->target);
}

/* ---- Changes without a callback --------------------------------------------------------------------------------- */

/* A schedule is skipped if the target changed back, was unscheduled, or got a callback. */
SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    struct SCNetworkReachability *fetched = NULL;

    if (!reach_runloop_check(loop))
        return NULL;
    while (fetched == NULL) {
        struct SCNetworkReachability *target;
        struct schedule *schedule;
        struct member *member;

        member = reach_runloop_next_change(loop);
        if (member == NULL)
            return NULL;
        schedule = container_of(member, struct schedule, member);
        target = schedule->target;
        target_lock(target);
        target->change_queued = false; /* what is due later is queued again */
        if (target->schedule == schedule && target->callback.function == NULL && reach_delivery_is_due_locked(target)) {
            reach_delivery_set_delivered_locked(target);
            target_retain(fetched = target);
            if (flags != NULL)
                *flags = target->current.flags;
        }
        target_unlock(target);
        counted_release(&member->counted);
    }
    return fetched;
}
#endif
