/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: call user code (callback or hook) with a lock held, deliver anything but the current
 * value, or deliver one target twice at a time.
 */
#include "api/delivery.h"

#include <errno.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/probes.h"

/* ---- The callback ---------------------------------------------------------------------------------------------- */

SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct callback_context      *fresh = NULL, *old;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0) {
        error_set(kSCStatusInvalidArgument);
        return 0;
    }
    if (callout != NULL && (fresh = callback_context_create(context)) == NULL) {
        error_set(ENOMEM);
        return 0;
    }
    if (fresh != NULL && !target_is_ours(self)) { /* a fork inside the retain hook */
        counted_release(&fresh->counted);
        error_set(ECHILD);
        return 0;
    }
    pthread_mutex_lock(&self->lock);
    old = self->context;
    self->context = fresh;
    self->callback = callout;
    pthread_mutex_unlock(&self->lock);
    if (old != NULL)
        counted_release(&old->counted);
    return 1;
}

/* ---- Delivery --------------------------------------------------------------------------------------------------- */

bool delivery_is_due_locked(const struct SCNetworkReachability *target)
{
    return target->announce || path_differs(&target->delivered, &target->current, target->notify_path);
}

void delivery_publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = delivery_is_due_locked(target) ? STATE_DUE : 0;

    atomic_store_explicit(&target->state, STATE_SCHEDULED | due | target->current.flags, memory_order_release);
}

void delivery_queue_locked(struct schedule *schedule)
{
    runloop_lock(schedule->loop);
    runloop_add_job_locked(schedule->loop, &schedule->job);
    runloop_unlock(schedule->loop);
}

/* What to call, taken under the lock and used without it. */
struct delivery {
    SCNetworkReachabilityCallBack callback;
    struct callback_context      *context;
    SCNetworkReachabilityFlags    flags;
};

enum verdict { NOTHING_DUE, NOBODY_TO_CALL, CALL_HERE, CALL_ELSEWHERE };

/* `here`: whether this is where calls are made. */
static enum verdict judge_locked(const struct schedule *schedule, bool here)
{
    const struct SCNetworkReachability *target = schedule->target;

    /* While a delivery is under way, here or on another loop, its end looks whether another is due. */
    if (!schedule->active || target->delivering || !delivery_is_due_locked(target))
        return NOTHING_DUE;
    if (target->callback == NULL)
        return NOBODY_TO_CALL;
    return here ? CALL_HERE : CALL_ELSEWHERE;
}

/* Begins a delivery: from here on it counts as made, unless the call is to be made elsewhere. */
static enum verdict begin(struct schedule *schedule, bool here, struct delivery *ret)
{
    struct SCNetworkReachability *target = schedule->target;
    enum verdict                  verdict;

    pthread_mutex_lock(&target->lock);
    verdict = judge_locked(schedule, here);
    if (verdict == NOBODY_TO_CALL || verdict == CALL_HERE) {
        target->delivered = target->current;
        target->announce = false;
        delivery_publish_locked(target);
    }
    if (verdict == NOBODY_TO_CALL) {
        runloop_lock(schedule->loop);
        runloop_add_change_locked(schedule->loop, &schedule->change);
        runloop_unlock(schedule->loop);
    }
    if (verdict == CALL_HERE) {
        target->delivering = true;
        counted_retain(&target->counted);
        target->deliveries++;
        *ret = (struct delivery){ .callback = target->callback,
                                  .context = target->context,
                                  .flags = target->current.flags };
        counted_retain(&ret->context->counted);
        probe_delivery(target, ret->flags);
    }
    pthread_mutex_unlock(&target->lock);
    return verdict;
}

void delivery_queue_everywhere_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules)
        delivery_queue_locked(container_of(node, struct schedule, node));
}

void delivery_mark_owed_locked(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags)
{
    const bool due = delivery_is_due_locked(target); /* then it is queued, or in a scheduler's hands */

    if (list_is_empty(&target->schedules) || (!due && target->current.flags == flags))
        return;
    target->announce = true;
    if (!due)
        delivery_queue_everywhere_locked(target);
}

void delivery_mark_owed(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags)
{
    pthread_mutex_lock(&target->lock);
    delivery_mark_owed_locked(target, flags);
    pthread_mutex_unlock(&target->lock);
}

static void end(struct SCNetworkReachability *target, bool begun)
{
    if (!target_is_ours(target))
        return;
    pthread_mutex_lock(&target->lock);
    if (begun)
        target->delivering = false;
    if (!target->delivering && delivery_is_due_locked(target))
        delivery_queue_everywhere_locked(target);
    pthread_mutex_unlock(&target->lock);
}

static void call(struct schedule *schedule, const struct delivery *delivery)
{
    callback_context_call(delivery->context, delivery->callback, schedule->target, delivery->flags);
}

/* Where a scheduler runs its work. */
void delivery_run_handed(struct counted *owner)
{
    struct schedule *schedule = container_of(owner, struct schedule, counted);
    struct delivery  delivery;
    bool             begun;

    if (!target_is_ours(schedule->target))
        return;
    begun = begin(schedule, true, &delivery) == CALL_HERE;
    if (begun)
        call(schedule, &delivery);
    /* First, so that what the end finds to be due can be handed over. */
    scheduler_work_done(schedule->work);
    end(schedule->target, begun);
    if (begun)
        counted_release(&schedule->target->counted);
}

bool delivery_run_job(struct job *job)
{
    struct schedule   *schedule = container_of(job, struct schedule, job);
    struct delivery    delivery;
    const enum verdict verdict = begin(schedule, schedule->work == NULL, &delivery);

    if (verdict == CALL_ELSEWHERE)
        scheduler_work_post(schedule->work, &schedule->counted);
    if (verdict == CALL_HERE) {
        call(schedule, &delivery);
        end(schedule->target, true);
        counted_release(&schedule->target->counted);
    }
    counted_release(&schedule->counted);
    return verdict == CALL_HERE;
}

void delivery_set_current_locked(struct SCNetworkReachability *target, const struct path *path)
{
    atomic_fetch_add(&target->answers, 1);
    target->current = *path;
    target->evaluations++;
    target->announce = target->announce || target->announce_answer;
    target->announce_answer = false;
    delivery_publish_locked(target);
}

/* The monitor's answer. With several loops, one may have asked later and been heard first. */
bool delivery_answered(struct path_watch *watch, const struct path *path, unsigned long answers)
{
    struct schedule              *schedule = container_of(watch, struct schedule, watch);
    struct SCNetworkReachability *target = schedule->target;
    bool                          in_order;

    pthread_mutex_lock(&target->lock);
    in_order = answers == atomic_load(&target->answers);
    if (schedule->active && in_order) {
        delivery_set_current_locked(target, path);
        if (delivery_is_due_locked(target))
            delivery_queue_locked(schedule);
    }
    pthread_mutex_unlock(&target->lock);
    return in_order;
}

SCNetworkReachabilityRef SCRunLoopCopyNextChange(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    const int                     status = runloop_status(loop);
    struct SCNetworkReachability *target = NULL;
    struct list                  *change;

    if (status != 0) {
        error_set(status);
        return NULL;
    }
    /* Unscheduling takes the change out under this lock before it drops the schedule's hold on the target. */
    runloop_lock(loop);
    change = runloop_next_change_locked(loop);
    if (change != NULL) {
        target = container_of(change, struct schedule, change)->target;
        counted_retain(&target->counted);
        if (flags != NULL)
            *flags = (SCNetworkReachabilityFlags)atomic_load_explicit(&target->state, memory_order_acquire);
    }
    runloop_unlock(loop);
    return target;
}
