/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: when one is due, and on which loop or scheduler it is made.
 *
 * What this file must never do: call user code (callback or hook) with a lock held, deliver anything but the current
 * value, or make two callbacks of one target at the same time.
 */
#ifdef __linux__
#include "api/delivery.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/probes.h"
#include "pure/next_hop.h"
#include "route/route_query.h"

/* ---- The callback ----------------------------------------------------------------------------------------------- */

/* The target gets a callback. What is queued for SCRunLoopCopyNextChange is not replayed to it. */
static void cancel_changes_locked(struct SCNetworkReachability *target)
{
    for (struct schedule *schedule = target->state->schedules; schedule != NULL; schedule = schedule_next(schedule)) {
        bool was_queued;

        if (schedule->watch.has_job)
            continue;
        runloop_lock(schedule->loop);
        was_queued = runloop_cancel_locked(schedule->loop, &schedule->member);
        runloop_unlock(schedule->loop);
        if (was_queued)
            counted_release(&schedule->member.counted); /* never the last reference: the target holds one */
    }
    if (target->state->change_queued)
        delivery_set_delivered_locked(target);
}

SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct target_state *state;
    struct callback fresh = { 0 }, before;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0) {
        error_set(error_invalid("context->version: not 0"));
        return 0;
    }
    state = callout != NULL ? target_require_state(self) : target_state(self);
    if (callout != NULL && (state == NULL || callback_create(callout, context, &fresh) != 0)) {
        error_set(ENOMEM);
        return 0;
    }
    if (target_is_inherited(self)) { /* a fork inside the retain hook */
        callback_release(&fresh);
        error_set(ECHILD);
        return 0;
    }
    if (state == NULL)
        return 1; /* there was no callback */
    target_lock(self);
    if (callout != NULL)
        cancel_changes_locked(self);
    before = state->callback;
    state->callback = fresh;
    target_unlock(self);
    callback_release(&before);
    return 1;
}

/* ---- What is due ------------------------------------------------------------------------------------------------ */

bool delivery_is_due_locked(const struct SCNetworkReachability *target)
{
    const struct target_state *state = target->state;
    const struct details *details = state_parts(state)->details;

    if (state_parts(state)->hop != NULL && state_parts(state)->hop->failed != state_parts(state)->hop->delivered)
        return true;
    if (state->owed || (state_parts(state)->reports_flow && outcome_flow_differs(&state->delivered, &state->current)))
        return true;
    return details == NULL ? outcome_differs(&state->delivered, &state->current)
                           : path_differs(&details->delivered, &details->current);
}

/* Returns the previous word. */
static uint64_t publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = delivery_is_due_locked(target) ? PUBLISHED_DUE : 0;

    return atomic_exchange(&target->published, PUBLISHED_SCHEDULED | due | target->state->current.flags);
}

/* Whether the target would report another path than the current one. */
static bool is_change_locked(const struct SCNetworkReachability *target, const struct path *path)
{
    const struct target_state *state = target->state;
    const struct details *details = state_parts(state)->details;
    const struct outcome outcome = path_outcome(path);

    if (state_parts(state)->reports_flow && outcome_flow_differs(&state->current, &outcome))
        return true;
    return details == NULL ? outcome_differs(&state->current, &outcome) : path_differs(&details->current, path);
}

/* The first evaluation reads neither rules nor the kinds of links, so that Schedule does not wait for RTNL. What the
 * second one finds is no change. */
static void settle_delivered_flow(struct target_state *state)
{
    struct outcome *delivered = &state->delivered;

    if (!delivered->flow_unsettled || state->current.flow_unsettled)
        return;
    delivered->flow = state->current.flow;
    delivered->flow_unsettled = false;
}

/* A next hop that has failed counts as failed until it responds, or the path has another one. Returns whether that is
 * news. */
static bool follow_hop(struct target_state *state, const struct path *path)
{
    struct target_hop *hop = state_parts(state)->hop;
    struct address address;
    bool had_failed;

    if (hop == NULL)
        return false;
    had_failed = hop->failed;
    state->owed = state->owed || path->left_failed_hop;
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
    struct target_state *state = schedule->state;

    for (struct schedule *other = state->schedules; other != NULL; other = schedule_next(other))
        if (other != schedule)
            atomic_store(&other->watch.outdated, true);
    if (follow_hop(state, path) || state->owed_next || is_change_locked(target, path))
        state->change_queued = false;
    state->current = path_outcome(path);
    settle_delivered_flow(state);
    if (state_parts(state)->details != NULL)
        state_parts(state)->details->current = *path;
    state->evaluations++;
    state->owed = state->owed || state->owed_next;
    state->owed_next = false;
    if ((publish_locked(target) & PUBLISHED_READ) != 0 && !state->owed) {
        state->owed = true;
        publish_locked(target);
    }
}

void delivery_set_delivered_locked(struct SCNetworkReachability *target)
{
    struct target_state *state = target->state;
    struct details *details = state_parts(state)->details;

    state->delivered = state->current;
    if (details != NULL)
        details->delivered = details->current;
    if (state_parts(state)->hop != NULL)
        state_parts(state)->hop->delivered = state_parts(state)->hop->failed;
    state->owed = state->change_queued = false;
    publish_locked(target);
}

void delivery_settle_locked(struct SCNetworkReachability *target, unsigned extras, const struct path *path)
{
    struct target_state *state = target->state;
    struct target_hop *hop = state_parts(state)->hop;
    const bool scheduled = state->schedules != NULL;

    if ((extras & QUERY_NEXT_HOP) != 0 && hop != NULL && !(scheduled && hop->settled)) {
        hop->index = path->index;
        if (!next_hop_find(path, &hop->address))
            hop->address = (struct address){ 0 };
        hop->returned = true;
        hop->delivered = path->next_hop == kSCNetworkReachabilityNextHopFailed;
        hop->failed = hop->delivered;
    }
    if ((extras & QUERY_FLOW) != 0 && state_parts(state)->reports_flow && !path->flow_unsettled &&
        !(scheduled && !state->delivered.flow_unsettled)) {
        state->delivered.flow = (uint8_t)path->flow;
        state->delivered.flow_unsettled = false;
    }
}

void delivery_set_owed_locked(struct SCNetworkReachability *target)
{
    target->state->owed = true;
    publish_locked(target);
}

void delivery_queue_locked(struct schedule *schedule)
{
    if (schedule->watch.has_job)
        return;
    runloop_lock(schedule->loop);
    schedule->watch.has_job = runloop_add_job_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    if (!schedule->watch.has_job)
        schedule->state->change_queued = true;
}

void delivery_queue_everywhere_locked(struct SCNetworkReachability *target)
{
    for (struct schedule *schedule = target->state->schedules; schedule != NULL; schedule = schedule_next(schedule))
        delivery_queue_locked(schedule);
}

void delivery_read_path_locked(struct SCNetworkReachability *target, struct path *ret)
{
    *ret = state_parts(target->state)->details->current;
    if (delivery_is_due_locked(target))
        target->state->owed = true; /* it is queued already, or posted to the scheduler */
}

/* ---- Delivery --------------------------------------------------------------------------------------------------- */

enum delivery_decision {
    DELIVER_NOTHING,
    DELIVER_TO_NONE,     /* there is no callback, and on a scheduler SCRunLoopCopyNextChange cannot fetch the change */
    DELIVER_AS_CHANGE,   /* there is no callback: SCRunLoopCopyNextChange returns the target */
    DELIVER_HERE,        /* on the calling thread */
    DELIVER_ON_SCHEDULER /* post work to the scheduler, which delivers */
};

/* What to do: decided under the lock, done without it. */
struct delivery {
    struct schedule *schedule;
    enum delivery_decision decision;
    struct callback callback;
    SCNetworkReachabilityFlags flags;
};

static enum delivery_decision decide_delivery_locked(const struct schedule *schedule, bool runs_on_scheduler)
{
    const struct target_state *state = schedule->state;

    /* When a running delivery ends, here or on another loop, it checks whether the next one is due. */
    if (!schedule->watch.active || state->is_delivering || !delivery_is_due_locked(schedule->target))
        return DELIVER_NOTHING;
    if (state->callback.function == NULL)
        return schedule_parts(schedule)->work == NULL ? DELIVER_AS_CHANGE : DELIVER_TO_NONE;
    return schedule_parts(schedule)->work == NULL || runs_on_scheduler ? DELIVER_HERE : DELIVER_ON_SCHEDULER;
}

/* Does nothing if the current value is queued already: then it is no news. Or the job is queued: it will do this. */
static void queue_change_locked(struct schedule *schedule)
{
    struct target_state *state = schedule->state;

    if (state->change_queued || schedule->watch.has_job)
        return;
    state->change_queued = true;
    runloop_lock(schedule->loop);
    runloop_add_change_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
}

void delivery_prefetch(const struct path_watch *watch)
{
    enum { CACHE_LINE = 64 };
    const struct schedule *schedule = container_of(watch, const struct schedule, watch);

    __builtin_prefetch(&schedule->target->references, 1);
    __builtin_prefetch(&schedule->target->published, 1);
    for (size_t line = 0; line < sizeof(struct target_state); line += CACHE_LINE)
        __builtin_prefetch((const char *)schedule->state + line, 1);
}

/* On the thread that drives the loop. A change that SCRunLoopCopyNextChange will return needs no job. */
static void queue_what_is_due_locked(struct schedule *schedule)
{
    switch (decide_delivery_locked(schedule, false)) {
    case DELIVER_NOTHING:
        return;
    case DELIVER_AS_CHANGE:
        queue_change_locked(schedule);
        return;
    default:
        __builtin_prefetch(schedule->state->callback.info); /* the callback runs soon */
        delivery_queue_locked(schedule);
    }
}

static void accept_locked(struct schedule *schedule, const struct path *path)
{
    delivery_set_current_locked(schedule, path);
    if (!schedule->state->change_queued)
        queue_what_is_due_locked(schedule);
}

/* The loop's monitor evaluated the target. */
bool delivery_accept_path(struct path_watch *watch, const struct path *path)
{
    struct schedule *schedule = container_of(watch, struct schedule, watch);
    struct SCNetworkReachability *target = schedule->target;
    bool is_newest;

    target_lock(target);
    is_newest = !atomic_load(&watch->outdated);
    if (schedule->watch.active && is_newest)
        accept_locked(schedule, path);
    target_unlock(target);
    return is_newest;
}

/* The name may have been resolved meanwhile. */
void delivery_follow_path(struct schedule *schedule, const struct path *path)
{
    struct SCNetworkReachability *target = schedule->target;
    struct path adjusted = *path;

    target_lock(target);
    if (schedule->watch.active && schedule->watch.monitor == NULL) {
        questions_adjust_path(state_parts(target->state)->initial, &adjusted);
        accept_locked(schedule, &adjusted);
    }
    target_unlock(target);
}

static void begin_callback_locked(struct delivery *delivery)
{
    struct SCNetworkReachability *target = delivery->schedule->target;
    struct target_state *state = target->state;

    delivery_set_delivered_locked(target);
    state->is_delivering = true;
    target_retain(target);
    state->deliveries++;
    delivery->callback = state->callback;
    delivery->flags = state->current.flags;
    callback_retain(&delivery->callback);
    probe_delivery(target, delivery->flags);
}

/* The caller then calls make_delivery and end_delivery. */
static struct delivery begin_delivery(struct schedule *schedule, bool runs_on_scheduler)
{
    struct delivery delivery = { .schedule = schedule };

    target_lock(schedule->target);
    if (!runs_on_scheduler)
        schedule->watch.has_job = false;
    delivery.decision = decide_delivery_locked(schedule, runs_on_scheduler);
    if (delivery.decision == DELIVER_TO_NONE)
        delivery_set_delivered_locked(schedule->target);
    if (delivery.decision == DELIVER_AS_CHANGE)
        queue_change_locked(schedule);
    if (delivery.decision == DELIVER_HERE)
        begin_callback_locked(&delivery);
    target_unlock(schedule->target);
    return delivery;
}

/* User code may end the thread in it. */
static void make_delivery(void *argument)
{
    const struct delivery *delivery = argument;

    if (delivery->decision == DELIVER_HERE)
        delivery->callback.function(delivery->schedule->target, delivery->flags, delivery->callback.info);
    if (delivery->decision == DELIVER_ON_SCHEDULER)
        scheduler_work_post(schedule_parts(delivery->schedule)->work, &delivery->schedule->member.counted);
}

static void end_delivery(const struct delivery *delivery)
{
    struct SCNetworkReachability *target = delivery->schedule->target;
    const bool has_called = delivery->decision == DELIVER_HERE;

    if (!target_is_inherited(target)) { /* no fork inside the callback */
        target_lock(target);
        if (has_called)
            target->state->is_delivering = false;
        if (!target->state->is_delivering && delivery_is_due_locked(target))
            delivery_queue_everywhere_locked(target);
        target_unlock(target);
    }
    if (has_called)
        target_release(target);
}

static void end_job(void *argument)
{
    const struct delivery *delivery = argument;

    if (delivery->decision == DELIVER_HERE)
        end_delivery(delivery);
    counted_release(&delivery->schedule->member.counted);
}

/* Runs on the thread that drives the loop. Returns true if it made a callback. */
bool delivery_run_job(struct member *member)
{
    struct delivery delivery = begin_delivery(container_of(member, struct schedule, member), false);

    cleanup_run(make_delivery, end_job, &delivery);
    return delivery.decision == DELIVER_HERE;
}

static void end_work(void *argument)
{
    const struct delivery *delivery = argument;

    /* Before end_delivery, which may queue the next delivery. */
    scheduler_work_done(schedule_parts(delivery->schedule)->work);
    end_delivery(delivery);
}

/* Runs where the scheduler runs its work. */
void delivery_run_work(struct counted *owner)
{
    struct schedule *schedule = container_of(owner, struct schedule, member.counted);
    struct delivery delivery;

    if (target_is_inherited(schedule->target))
        return;
    delivery = begin_delivery(schedule, true);
    cleanup_run(make_delivery, end_work, &delivery);
}

/* ---- Changes without a callback --------------------------------------------------------------------------------- */

/* Removes a schedule from the loop's queue. Returns it with a reference; NULL: the queue is empty. */
static struct schedule *pop_changed_schedule(SCRunLoopRef loop)
{
    struct member *member;

    runloop_lock(loop);
    member = runloop_next_change_locked(loop);
    runloop_unlock(loop);
    return member == NULL ? NULL : container_of(member, struct schedule, member);
}

/* Returns the target with a reference. NULL: it changed back, was fetched from another loop, was unscheduled, or got a
 * callback. */
static struct SCNetworkReachability *fetch_change(struct schedule *schedule, SCNetworkReachabilityFlags *flags)
{
    struct SCNetworkReachability *target = schedule->target, *fetched = NULL;

    target_lock(target);
    target->state->change_queued = false; /* what is due later is queued again */
    if (schedule->watch.active && target->state->callback.function == NULL && delivery_is_due_locked(target)) {
        delivery_set_delivered_locked(target);
        target_retain(target);
        fetched = target;
        if (flags != NULL)
            *flags = target->state->current.flags;
    }
    target_unlock(target);
    return fetched;
}

SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    const int status = runloop_status(loop);
    struct SCNetworkReachability *target = NULL;
    struct schedule *schedule;

    if (status != 0) {
        error_set(status);
        return NULL;
    }
    while (target == NULL && (schedule = pop_changed_schedule(loop)) != NULL) {
        target = fetch_change(schedule, flags);
        counted_release(&schedule->member.counted);
    }
    return target;
}
#endif
