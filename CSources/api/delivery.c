/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: when one is due, and on which loop or scheduler it is made.
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

/* ---- The callback ----------------------------------------------------------------------------------------------- */

/* The target gets a callback. What is queued for SCRunLoopCopyNextChange is not replayed to it. */
static void cancel_changes_locked(struct SCNetworkReachability *target)
{
    for (struct schedule *schedule = target->schedules; schedule != NULL; schedule = schedule->next) {
        bool was_queued;

        if (schedule->has_job)
            continue;
        runloop_lock(schedule->loop);
        was_queued = runloop_cancel_locked(schedule->loop, &schedule->member);
        runloop_unlock(schedule->loop);
        if (was_queued)
            counted_release(&schedule->member.counted); /* never the last reference: the target holds one */
    }
    if (target->change_queued)
        delivery_set_delivered_locked(target);
}

SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct callback fresh = { 0 }, before;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0) {
        error_set(error_invalid("context->version: not 0"));
        return 0;
    }
    if (callout != NULL && callback_create(callout, context, &fresh) != 0) {
        error_set(ENOMEM);
        return 0;
    }
    if (target_is_inherited(self)) { /* a fork inside the retain hook */
        callback_release(&fresh);
        error_set(ECHILD);
        return 0;
    }
    target_lock(self);
    if (callout != NULL)
        cancel_changes_locked(self);
    before = self->callback;
    self->callback = fresh;
    target_unlock(self);
    callback_release(&before);
    return 1;
}

/* ---- What is due ------------------------------------------------------------------------------------------------ */

bool delivery_is_due_locked(const struct SCNetworkReachability *target)
{
    const struct details *details = target->details;

    if (target->owed || target->hop.failed != target->hop.delivered ||
        (target->reports_flow && outcome_flow_differs(&target->delivered, &target->current)))
        return true;
    return details == NULL ? outcome_differs(&target->delivered, &target->current)
                           : path_differs(&details->delivered, &details->current);
}

/* Whether the target would report another path than the current one. */
static bool is_change_locked(const struct SCNetworkReachability *target, const struct path *path)
{
    const struct outcome outcome = path_outcome(path);

    if (target->reports_flow && outcome_flow_differs(&target->current, &outcome))
        return true;
    return target->details == NULL ? outcome_differs(&target->current, &outcome)
                                   : path_differs(&target->details->current, path);
}

/* Returns the previous word. */
static uint64_t publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = delivery_is_due_locked(target) ? PUBLISHED_DUE : 0;

    return atomic_exchange(&target->published, PUBLISHED_SCHEDULED | due | target->current.flags);
}

/* The first evaluation reads neither rules nor the kinds of links, so that Schedule does not wait for RTNL. What the
 * second one finds is no change. */
static void settle_delivered_flow(struct SCNetworkReachability *target)
{
    struct outcome *delivered = &target->delivered;

    if (!delivered->flow_unsettled || target->current.flow_unsettled)
        return;
    delivered->flow = target->current.flow;
    delivered->flow_unsettled = false;
}

/* A next hop that has failed counts as failed until it responds, or the path has another one. Returns whether that is
 * news. */
static bool follow_hop(struct SCNetworkReachability *target, const struct path *path)
{
    struct target_hop *hop = &target->hop;
    const bool had_failed = hop->failed;
    struct address address;

    if (!target->notify_next_hop)
        return false;
    target->owed = target->owed || path->left_failed_hop;
    if (!next_hop_find(path, &address))
        address = (struct address){ 0 };
    if (path->index != hop->index || !address_equal(&address, &hop->address))
        *hop = (struct target_hop){ .address = address,
                                    .index = path->index,
                                    .delivered = hop->delivered,
                                    .settled = hop->settled,
                                    .returned = hop->returned };
    if (path->hop == PATH_HOP_RESPONDS || path->hop == PATH_HOP_FAILED)
        hop->failed = path->hop == PATH_HOP_FAILED;
    if (path->hop != PATH_HOP_UNREAD && !hop->settled) {
        if (!hop->returned)
            hop->delivered = hop->failed;
        else if (path->hop == PATH_HOP_UNKNOWN)
            hop->failed = false; /* the kernel has forgotten it, and the monitor would not notice that it responds */
        hop->settled = true;
    }
    return hop->failed != had_failed || path->left_failed_hop;
}

void delivery_set_current_locked(struct schedule *schedule, const struct path *path)
{
    struct SCNetworkReachability *target = schedule->target;

    for (struct schedule *other = target->schedules; other != NULL; other = other->next)
        if (other != schedule)
            atomic_store(&other->watch.outdated, true);
    if (follow_hop(target, path) || target->owed_next || is_change_locked(target, path))
        target->change_queued = false;
    target->current = path_outcome(path);
    settle_delivered_flow(target);
    if (target->details != NULL)
        target->details->current = *path;
    target->evaluations++;
    target->owed = target->owed || target->owed_next;
    target->owed_next = false;
    if ((publish_locked(target) & PUBLISHED_READ) != 0 && !target->owed) {
        target->owed = true;
        publish_locked(target);
    }
}

void delivery_set_delivered_locked(struct SCNetworkReachability *target)
{
    target->delivered = target->current;
    if (target->details != NULL)
        target->details->delivered = target->details->current;
    target->hop.delivered = target->hop.failed;
    target->owed = target->change_queued = false;
    publish_locked(target);
}

void delivery_settle(struct SCNetworkReachability *target, unsigned extras, const struct path *path)
{
    struct target_hop *hop = &target->hop;
    bool scheduled;

    if (!target->notify_next_hop && !target->reports_flow)
        return;
    target_lock(target);
    scheduled = target->schedules != NULL;
    if ((extras & QUERY_NEXT_HOP) != 0 && target->notify_next_hop && !(scheduled && hop->settled)) {
        hop->index = path->index;
        if (!next_hop_find(path, &hop->address))
            hop->address = (struct address){ 0 };
        hop->returned = true;
        hop->delivered = path->next_hop == kSCNetworkReachabilityNextHopFailed;
        hop->failed = hop->delivered;
    }
    if ((extras & QUERY_FLOW) != 0 && target->reports_flow && !path->flow_unsettled &&
        !(scheduled && !target->delivered.flow_unsettled)) {
        target->delivered.flow = (uint8_t)path->flow;
        target->delivered.flow_unsettled = false;
    }
    target_unlock(target);
}

void delivery_set_owed_locked(struct SCNetworkReachability *target)
{
    target->owed = true;
    publish_locked(target);
}

void delivery_queue_locked(struct schedule *schedule)
{
    if (schedule->has_job)
        return;
    runloop_lock(schedule->loop);
    schedule->has_job = runloop_add_job_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    if (!schedule->has_job)
        schedule->target->change_queued = true;
}

void delivery_queue_everywhere_locked(struct SCNetworkReachability *target)
{
    for (struct schedule *schedule = target->schedules; schedule != NULL; schedule = schedule->next)
        delivery_queue_locked(schedule);
}

void delivery_read_path_locked(struct SCNetworkReachability *target, struct path *ret)
{
    *ret = target->details->current;
    if (delivery_is_due_locked(target))
        target->owed = true; /* it is queued already, or posted to the scheduler */
}

/* ---- Delivery --------------------------------------------------------------------------------------------------- */

/* Does nothing if the current value is queued already: then it is no news. Or the job is queued: it will do this. */
static void queue_change_locked(struct schedule *schedule)
{
    if (schedule->target->change_queued || schedule->has_job)
        return;
    schedule->target->change_queued = true;
    runloop_lock(schedule->loop);
    runloop_add_change_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
}

/* A run of a schedule's job or work: decided under the lock, done without it. */
struct delivery {
    struct schedule *schedule; /* a reference */
    bool on_scheduler;         /* it is work */
    bool calls;                /* makes the callback here */
    struct scheduler *posts;   /* gets work, which makes it; a reference, or NULL */
    struct callback callback;
    SCNetworkReachabilityFlags flags;
};

static void decide(struct delivery *delivery)
{
    struct schedule *schedule = delivery->schedule;
    struct SCNetworkReachability *target = schedule->target;

    target_lock(target);
    if (!delivery->on_scheduler)
        schedule->has_job = false;
    /* When a running delivery ends, here or on another loop, it checks whether the next one is due. */
    if (!schedule->active || target->is_delivering || !delivery_is_due_locked(target)) {
        ;
    } else if (target->callback.function == NULL && schedule->scheduler == NULL) {
        queue_change_locked(schedule);
    } else if (target->callback.function == NULL) {
        delivery_set_delivered_locked(target); /* SCRunLoopCopyNextChange cannot fetch it */
    } else if (schedule->scheduler != NULL && !delivery->on_scheduler) {
        delivery->posts = scheduler_retain(schedule->scheduler);
    } else {
        delivery_set_delivered_locked(target);
        target->is_delivering = delivery->calls = true;
        target_retain(target);
        target->deliveries++;
        delivery->callback = target->callback;
        delivery->flags = target->current.flags;
        callback_retain(&delivery->callback);
        probe_delivery(target, delivery->flags);
    }
    target_unlock(target);
}

/* User code may end the thread in it. */
static void deliver(void *argument)
{
    const struct delivery *delivery = argument;

    if (delivery->calls)
        delivery->callback.function(delivery->schedule->target, delivery->flags, delivery->callback.info);
    if (delivery->posts != NULL)
        scheduler_post(delivery->posts);
}

static void end_delivery(void *argument)
{
    const struct delivery *delivery = argument;
    struct SCNetworkReachability *target = delivery->schedule->target;

    if ((delivery->calls || delivery->on_scheduler) && !target_is_inherited(target)) { /* no fork in the callback */
        target_lock(target);
        if (delivery->calls)
            target->is_delivering = false;
        if (!target->is_delivering && delivery_is_due_locked(target))
            delivery_queue_everywhere_locked(target);
        target_unlock(target);
    }
    if (delivery->calls)
        target_release(target);
    counted_release(&delivery->schedule->member.counted);
}

/* On the thread that drives the loop. Returns true if it made a callback. */
bool delivery_run_job(struct member *member)
{
    struct delivery delivery = { .schedule = container_of(member, struct schedule, member) };

    decide(&delivery);
    process_run(deliver, end_delivery, &delivery);
    return delivery.calls;
}

/* Where the scheduler runs its work. */
void delivery_run_work(struct counted *owner)
{
    struct delivery delivery = { .schedule = container_of(owner, struct schedule, member.counted),
                                 .on_scheduler = true };

    if (target_is_inherited(delivery.schedule->target))
        return;
    counted_retain(owner);
    decide(&delivery);
    process_run(deliver, end_delivery, &delivery);
}

/* ---- Paths ------------------------------------------------------------------------------------------------------ */

void delivery_prefetch(const struct path_watch *watch)
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

    delivery_set_current_locked(schedule, path);
    if (target->change_queued || target->is_delivering || !delivery_is_due_locked(target))
        return;
    if (target->callback.function == NULL && schedule->scheduler == NULL)
        queue_change_locked(schedule);
    else
        delivery_queue_locked(schedule);
}

/* The loop's monitor evaluated the target. */
bool delivery_accept_path(struct path_watch *watch, const struct path *path)
{
    struct schedule *schedule = container_of(watch, struct schedule, watch);
    bool is_newest;

    target_lock(schedule->target);
    is_newest = !atomic_load(&watch->outdated);
    if (schedule->active && is_newest)
        accept_locked(schedule, path);
    target_unlock(schedule->target);
    return is_newest;
}

/* The name may have been resolved meanwhile. */
void delivery_follow_path(struct schedule *schedule, const struct path *path)
{
    struct path adjusted = *path;

    target_lock(schedule->target);
    if (schedule->active && schedule->watch.monitor == NULL) {
        questions_adjust_path(schedule->target->initial, &adjusted);
        accept_locked(schedule, &adjusted);
    }
    target_unlock(schedule->target);
}

/* ---- Changes without a callback --------------------------------------------------------------------------------- */

/* A schedule is skipped if the target changed back, was fetched from another loop, was unscheduled, or got a
 * callback. */
SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    struct SCNetworkReachability *fetched = NULL;

    if (!runloop_check(loop))
        return NULL;
    while (fetched == NULL) {
        struct SCNetworkReachability *target;
        struct schedule *schedule;
        struct member *member;

        runloop_lock(loop);
        member = runloop_next_change_locked(loop);
        runloop_unlock(loop);
        if (member == NULL)
            return NULL;
        schedule = container_of(member, struct schedule, member);
        target = schedule->target;
        target_lock(target);
        if (schedule->active && target->callback.function == NULL && delivery_is_due_locked(target)) {
            delivery_set_delivered_locked(target);
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
