/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: when one is due, and on which loop or scheduler it is made.
 *
 * What this file must never do: call user code (callback or hook) with a lock held, deliver anything but the current
 * value, or make two callbacks of one target at the same time.
 */
#include "api/delivery.h"

#include <errno.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/probes.h"

/* ---- The callback ----------------------------------------------------------------------------------------------- */

SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct callback_context      *new_context = NULL, *old_context;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0) {
        error_set(kSCStatusInvalidArgument);
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
    return target->owed || path_differs(&target->delivered, &target->current, target->notify_path);
}

void delivery_publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = delivery_is_due_locked(target) ? PUBLISHED_DUE : 0;

    atomic_store_explicit(&target->published, PUBLISHED_SCHEDULED | due | target->current.flags, memory_order_release);
}

void delivery_set_current_locked(struct SCNetworkReachability *target, const struct path *path)
{
    atomic_fetch_add(&target->path_version, 1);
    target->current = *path;
    target->evaluations++;
    target->owed = target->owed || target->owed_next;
    target->owed_next = false;
    delivery_publish_locked(target);
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

void delivery_mark_owed_locked(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags)
{
    const bool due = delivery_is_due_locked(target); /* then it is queued already, or posted to the scheduler */

    if (list_is_empty(&target->schedules) || (!due && target->current.flags == flags))
        return;
    target->owed = true;
    if (!due)
        delivery_queue_everywhere_locked(target);
}

void delivery_mark_owed(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags)
{
    pthread_mutex_lock(&target->lock);
    delivery_mark_owed_locked(target, flags);
    pthread_mutex_unlock(&target->lock);
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
        if (delivery_is_due_locked(target))
            delivery_queue_locked(schedule);
    }
    pthread_mutex_unlock(&target->lock);
    return is_newest;
}

/* ---- Delivery --------------------------------------------------------------------------------------------------- */

/* What to call: read under the lock, used without it. */
struct delivery {
    SCNetworkReachabilityCallBack callback;
    struct callback_context      *context;
    SCNetworkReachabilityFlags    flags;
};

enum delivery_decision {
    DELIVER_NOTHING,
    DELIVER_AS_CHANGE,   /* there is no callback: SCRunLoopCopyNextChange returns the target */
    DELIVER_HERE,        /* on the calling thread */
    DELIVER_ON_SCHEDULER /* post work to the scheduler, which delivers */
};

static enum delivery_decision decide_delivery_locked(const struct schedule *schedule, bool runs_on_scheduler)
{
    const struct SCNetworkReachability *target = schedule->target;

    /* When a running delivery ends, here or on another loop, it checks whether the next one is due. */
    if (!schedule->active || target->is_delivering || !delivery_is_due_locked(target))
        return DELIVER_NOTHING;
    if (target->callback == NULL)
        return DELIVER_AS_CHANGE;
    return schedule->work == NULL || runs_on_scheduler ? DELIVER_HERE : DELIVER_ON_SCHEDULER;
}

/* If it returns DELIVER_HERE, the caller makes the callback in *ret, then calls end_delivery and releases the
 * target. */
static enum delivery_decision begin_delivery(struct schedule *schedule, bool runs_on_scheduler, struct delivery *ret)
{
    struct SCNetworkReachability *target = schedule->target;
    enum delivery_decision        decision;

    pthread_mutex_lock(&target->lock);
    decision = decide_delivery_locked(schedule, runs_on_scheduler);
    if (decision == DELIVER_AS_CHANGE || decision == DELIVER_HERE) {
        target->delivered = target->current;
        target->owed = false;
        delivery_publish_locked(target);
    }
    if (decision == DELIVER_AS_CHANGE) {
        runloop_lock(schedule->loop);
        runloop_add_change_locked(schedule->loop, &schedule->change);
        runloop_unlock(schedule->loop);
    }
    if (decision == DELIVER_HERE) {
        target->is_delivering = true;
        counted_retain(&target->counted);
        target->deliveries++;
        *ret = (struct delivery){ .callback = target->callback,
                                  .context = target->context,
                                  .flags = target->current.flags };
        counted_retain(&ret->context->counted);
        probe_delivery(target, ret->flags);
    }
    pthread_mutex_unlock(&target->lock);
    return decision;
}

static void make_callback(struct schedule *schedule, const struct delivery *delivery)
{
    callback_context_call(delivery->context, delivery->callback, schedule->target, delivery->flags);
}

static void end_delivery(struct SCNetworkReachability *target, bool has_delivered)
{
    if (target_is_inherited(target)) /* a fork inside the callback */
        return;
    pthread_mutex_lock(&target->lock);
    if (has_delivered)
        target->is_delivering = false;
    if (!target->is_delivering && delivery_is_due_locked(target))
        delivery_queue_everywhere_locked(target);
    pthread_mutex_unlock(&target->lock);
}

/* Runs on the thread that drives the loop. Returns true if it made a callback. */
bool delivery_run_job(struct job *job)
{
    struct schedule             *schedule = container_of(job, struct schedule, job);
    struct delivery              delivery;
    const enum delivery_decision decision = begin_delivery(schedule, false, &delivery);

    if (decision == DELIVER_ON_SCHEDULER)
        scheduler_work_post(schedule->work, &schedule->counted);
    if (decision == DELIVER_HERE) {
        make_callback(schedule, &delivery);
        end_delivery(schedule->target, true);
        counted_release(&schedule->target->counted);
    }
    counted_release(&schedule->counted);
    return decision == DELIVER_HERE;
}

/* Runs where the scheduler runs its work. */
void delivery_run_work(struct counted *owner)
{
    struct schedule *schedule = container_of(owner, struct schedule, counted);
    struct delivery  delivery;
    bool             has_delivered;

    if (target_is_inherited(schedule->target))
        return;
    has_delivered = begin_delivery(schedule, true, &delivery) == DELIVER_HERE;
    if (has_delivered)
        make_callback(schedule, &delivery);
    scheduler_work_done(schedule->work); /* before end_delivery, which may queue the next delivery */
    end_delivery(schedule->target, has_delivered);
    if (has_delivered)
        counted_release(&schedule->target->counted);
}

/* ---- Changes without a callback --------------------------------------------------------------------------------- */

SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    const int                     status = runloop_status(loop);
    struct SCNetworkReachability *target = NULL;
    struct list                  *change;

    if (status != 0) {
        error_set(status);
        return NULL;
    }
    /* The target is valid under this lock: unscheduling removes the change under it, and releases the target later. */
    runloop_lock(loop);
    change = runloop_next_change_locked(loop);
    if (change != NULL) {
        target = container_of(change, struct schedule, change)->target;
        counted_retain(&target->counted);
        if (flags != NULL)
            *flags = (SCNetworkReachabilityFlags)atomic_load_explicit(&target->published, memory_order_acquire);
    }
    runloop_unlock(loop);
    return target;
}
