/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: when one is due, and on which loop or scheduler it is made.
 *
 * What this file must never do: call user code (callback or hook) with a lock held, deliver anything but the current
 * value, or make two callbacks of one target at the same time.
 */
#include "api/delivery.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/probes.h"

/* ---- The callback ----------------------------------------------------------------------------------------------- */

/* The target gets a callback. What is queued for SCRunLoopCopyNextChange is not replayed to it. */
static void cancel_changes_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        runloop_lock(schedule->loop);
        list_remove(&schedule->change);
        runloop_unlock(schedule->loop);
    }
    if (target->change_queued)
        delivery_set_delivered_locked(target);
}

SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct callback_context      *new_context = NULL, *old_context;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0) {
        error_set(error_invalid("context->version: not 0"));
        return 0;
    }
    if (callout != NULL && (new_context = callback_context_create(context)) == NULL) {
        error_set(ENOMEM);
        return 0;
    }
    if (new_context != NULL && target_is_inherited(self)) { /* a fork inside the retain hook */
        counted_release(&new_context->counted);
        error_set(ECHILD);
        return 0;
    }
    pthread_mutex_lock(&self->lock);
    if (callout != NULL)
        cancel_changes_locked(self);
    old_context = self->context;
    self->context = new_context;
    self->callback = callout;
    pthread_mutex_unlock(&self->lock);
    if (old_context != NULL)
        counted_release(&old_context->counted);
    return 1;
}

/* ---- What is due ------------------------------------------------------------------------------------------------ */

bool delivery_is_due_locked(const struct SCNetworkReachability *target)
{
    if (target->owed)
        return true;
    return target->details == NULL ? outcome_differs(&target->delivered, &target->current)
                                   : path_differs(&target->details->delivered, &target->details->current);
}

/* Returns the previous word. */
static uint64_t publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = delivery_is_due_locked(target) ? PUBLISHED_DUE : 0;

    return atomic_exchange(&target->published, PUBLISHED_SCHEDULED | due | target->current.flags);
}

/* Whether the target would report another path than the current one. */
static bool is_change_locked(const struct SCNetworkReachability *target, const struct path *path)
{
    const struct outcome outcome = path_outcome(path);

    return target->details == NULL ? outcome_differs(&target->current, &outcome)
                                   : path_differs(&target->details->current, path);
}

void delivery_set_current_locked(struct SCNetworkReachability *target, const struct path *path)
{
    if (target->owed_next || is_change_locked(target, path))
        target->change_queued = false;
    atomic_fetch_add(&target->path_version, 1);
    target->current = path_outcome(path);
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
    target->owed = target->change_queued = false;
    publish_locked(target);
}

void delivery_set_owed_locked(struct SCNetworkReachability *target)
{
    target->owed = true;
    publish_locked(target);
}

void delivery_queue_locked(struct schedule *schedule)
{
    runloop_lock(schedule->loop);
    runloop_add_job_locked(schedule->loop, &schedule->job);
    runloop_unlock(schedule->loop);
}

void delivery_queue_everywhere_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules)
        delivery_queue_locked(container_of(node, struct schedule, node));
}

void delivery_read_path_locked(struct SCNetworkReachability *target, struct path *ret)
{
    *ret = target->details->current;
    if (delivery_is_due_locked(target))
        target->owed = true; /* it is queued already, or posted to the scheduler */
}

/* The loop's monitor evaluated the target. Returns false if the path may be outdated: `path_version` was read before
 * the evaluation, and since then another loop set a newer path, or the questions changed. */
bool delivery_accept_path(struct path_watch *watch, const struct path *path, unsigned long path_version)
{
    struct schedule              *schedule = container_of(watch, struct schedule, watch);
    struct SCNetworkReachability *target = schedule->target;
    bool                          is_newest;

    pthread_mutex_lock(&target->lock);
    is_newest = path_version == atomic_load(&target->path_version);
    if (schedule->active && is_newest) {
        delivery_set_current_locked(target, path);
        if (delivery_is_due_locked(target) && !target->change_queued) {
            __builtin_prefetch(target, 1); /* the callback uses both soon */
            __builtin_prefetch(target->context, 1);
            delivery_queue_locked(schedule);
        }
    }
    pthread_mutex_unlock(&target->lock);
    return is_newest;
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
    struct schedule              *schedule;
    enum delivery_decision        decision;
    SCNetworkReachabilityCallBack callback;
    struct callback_context      *context;
    SCNetworkReachabilityFlags    flags;
};

static enum delivery_decision decide_delivery_locked(const struct schedule *schedule, bool runs_on_scheduler)
{
    const struct SCNetworkReachability *target = schedule->target;

    /* When a running delivery ends, here or on another loop, it checks whether the next one is due. */
    if (!schedule->active || target->is_delivering || !delivery_is_due_locked(target))
        return DELIVER_NOTHING;
    if (target->callback == NULL)
        return schedule->work == NULL ? DELIVER_AS_CHANGE : DELIVER_TO_NONE;
    return schedule->work == NULL || runs_on_scheduler ? DELIVER_HERE : DELIVER_ON_SCHEDULER;
}

/* Does nothing if the current value is queued already: then it is no news. */
static void queue_change_locked(struct schedule *schedule)
{
    if (schedule->target->change_queued)
        return;
    schedule->target->change_queued = true;
    runloop_lock(schedule->loop);
    runloop_add_change_locked(schedule->loop, &schedule->change);
    runloop_unlock(schedule->loop);
}

static void begin_callback_locked(struct delivery *delivery)
{
    struct SCNetworkReachability *target = delivery->schedule->target;

    delivery_set_delivered_locked(target);
    target->is_delivering = true;
    counted_retain(&target->counted);
    target->deliveries++;
    delivery->callback = target->callback;
    delivery->context = target->context;
    delivery->flags = target->current.flags;
    counted_retain(&delivery->context->counted);
    probe_delivery(target, delivery->flags);
}

/* The caller then calls make_delivery and end_delivery. */
static struct delivery begin_delivery(struct schedule *schedule, bool runs_on_scheduler)
{
    struct delivery delivery = { .schedule = schedule };

    pthread_mutex_lock(&schedule->target->lock);
    delivery.decision = decide_delivery_locked(schedule, runs_on_scheduler);
    if (delivery.decision == DELIVER_TO_NONE)
        delivery_set_delivered_locked(schedule->target);
    if (delivery.decision == DELIVER_AS_CHANGE)
        queue_change_locked(schedule);
    if (delivery.decision == DELIVER_HERE)
        begin_callback_locked(&delivery);
    pthread_mutex_unlock(&schedule->target->lock);
    return delivery;
}

/* User code may end the thread in it. */
static void make_delivery(void *argument)
{
    const struct delivery *delivery = argument;

    if (delivery->decision == DELIVER_HERE)
        callback_context_call(delivery->context, delivery->callback, delivery->schedule->target, delivery->flags);
    if (delivery->decision == DELIVER_ON_SCHEDULER)
        scheduler_work_post(delivery->schedule->work, &delivery->schedule->counted);
}

static void end_delivery(const struct delivery *delivery)
{
    struct SCNetworkReachability *target = delivery->schedule->target;
    const bool                    has_called = delivery->decision == DELIVER_HERE;

    if (!target_is_inherited(target)) { /* no fork inside the callback */
        pthread_mutex_lock(&target->lock);
        if (has_called)
            target->is_delivering = false;
        if (!target->is_delivering && delivery_is_due_locked(target))
            delivery_queue_everywhere_locked(target);
        pthread_mutex_unlock(&target->lock);
    }
    if (has_called)
        counted_release(&target->counted);
}

static void end_job(void *argument)
{
    const struct delivery *delivery = argument;

    if (delivery->decision == DELIVER_HERE)
        end_delivery(delivery);
    counted_release(&delivery->schedule->counted);
}

/* Runs on the thread that drives the loop. Returns true if it made a callback. */
bool delivery_run_job(struct job *job)
{
    struct delivery delivery = begin_delivery(container_of(job, struct schedule, job), false);

    cleanup_run(make_delivery, end_job, &delivery);
    return delivery.decision == DELIVER_HERE;
}

static void end_work(void *argument)
{
    const struct delivery *delivery = argument;

    scheduler_work_done(delivery->schedule->work); /* before end_delivery, which may queue the next delivery */
    end_delivery(delivery);
}

/* Runs where the scheduler runs its work. */
void delivery_run_work(struct counted *owner)
{
    struct schedule *schedule = container_of(owner, struct schedule, counted);
    struct delivery  delivery;

    if (target_is_inherited(schedule->target))
        return;
    delivery = begin_delivery(schedule, true);
    cleanup_run(make_delivery, end_work, &delivery);
}

/* ---- Changes without a callback --------------------------------------------------------------------------------- */

/* Removes a schedule from the loop's queue. Returns it with a reference; NULL: the queue is empty. */
static struct schedule *pop_changed_schedule(SCRunLoopRef loop)
{
    struct schedule *schedule = NULL;
    struct list     *change;

    runloop_lock(loop);
    change = runloop_next_change_locked(loop);
    if (change != NULL) { /* it is active: unscheduling removes the change under this lock */
        schedule = container_of(change, struct schedule, change);
        counted_retain(&schedule->counted);
    }
    runloop_unlock(loop);
    return schedule;
}

/* Returns the target with a reference. NULL: it changed back, was fetched from another loop, was unscheduled, or got a
 * callback. */
static struct SCNetworkReachability *fetch_change(struct schedule *schedule, SCNetworkReachabilityFlags *flags)
{
    struct SCNetworkReachability *target = schedule->target, *fetched = NULL;

    pthread_mutex_lock(&target->lock);
    if (schedule->active && target->callback == NULL && delivery_is_due_locked(target)) {
        delivery_set_delivered_locked(target);
        counted_retain(&target->counted);
        fetched = target;
        if (flags != NULL)
            *flags = target->current.flags;
    }
    pthread_mutex_unlock(&target->lock);
    return fetched;
}

SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    const int                     status = runloop_status(loop);
    struct SCNetworkReachability *target = NULL;
    struct schedule              *schedule;

    if (status != 0) {
        error_set(status);
        return NULL;
    }
    while (target == NULL && (schedule = pop_changed_schedule(loop)) != NULL) {
        target = fetch_change(schedule, flags);
        counted_release(&schedule->counted);
    }
    return target;
}
