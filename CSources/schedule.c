/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: who is called, when, and on which loop.
 *
 * What this file must never do: call user code (callback or hook) with a lock held, deliver anything but the current
 * value, or deliver one target twice at a time.
 *
 * One schedule is one (target, loop). It is a watch of the loop's monitor, a job while a delivery is due, a change
 * while it waits for SCRunLoopCopyNextChange, and a member of the loop until it ends. References: the target's list
 * holds one, and so does the loop's queue while the job is in it. A schedule holds the target and the loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "error.h"
#include "handover.h"
#include "name.h"
#include "probes.h"
#include "service.h"
#include "surroundings.h"
#include "target.h"

enum { MODE_DEFAULT, MODE_COMMON, MODES };

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

static int mode_index(SCRunLoopMode mode)
{
    return strcmp(mode, kSCRunLoopDefaultMode) == 0 ? MODE_DEFAULT : MODE_COMMON;
}

/* ---- The callback ---------------------------------------------------------------------------------------------- */

SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callout,
                                           SCNetworkReachabilityContext *context)
{
    struct SCNetworkReachability *self;
    struct context               *fresh = NULL, *old;

    if (!target_check(target, &self))
        return 0;
    if (context != NULL && context->version != 0) {
        error_set(kSCStatusInvalidArgument);
        return 0;
    }
    if (callout != NULL && (fresh = context_create(context)) == NULL) {
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

static bool is_due_locked(const struct SCNetworkReachability *target)
{
    return target->announce || path_differs(&target->delivered, &target->current, target->notify_path);
}

/* What GetFlags loads. */
static void publish_locked(struct SCNetworkReachability *target)
{
    const uint64_t due = is_due_locked(target) ? STATE_DUE : 0;

    atomic_store_explicit(&target->state, STATE_SCHEDULED | due | target->current.flags, memory_order_release);
}

static void queue_locked(struct schedule *schedule)
{
    runloop_lock(schedule->loop);
    runloop_add_job_locked(schedule->loop, &schedule->job);
    runloop_unlock(schedule->loop);
}

/* What to call, taken under the lock and used without it. */
struct delivery {
    SCNetworkReachabilityCallBack callback;
    struct context               *context;
    SCNetworkReachabilityFlags    flags;
};

enum verdict { NOTHING_DUE, NOBODY_TO_CALL, CALL_HERE, CALL_ELSEWHERE };

/* `here`: whether this is where calls are made. */
static enum verdict judge_locked(const struct schedule *schedule, bool here)
{
    const struct SCNetworkReachability *target = schedule->target;

    /* While a delivery is under way, here or on another loop, its end looks whether another is due. */
    if (!schedule->active || target->delivering || !is_due_locked(target))
        return NOTHING_DUE;
    if (target->callback == NULL)
        return NOBODY_TO_CALL;
    return here ? CALL_HERE : CALL_ELSEWHERE;
}

/* Begins a delivery: from here on it counts as made, unless the call is to be made elsewhere. */
static enum verdict delivery_begin(struct schedule *schedule, bool here, struct delivery *ret)
{
    struct SCNetworkReachability *target = schedule->target;
    enum verdict                  verdict;

    pthread_mutex_lock(&target->lock);
    verdict = judge_locked(schedule, here);
    if (verdict == NOBODY_TO_CALL || verdict == CALL_HERE) {
        target->delivered = target->current;
        target->announce = false;
        publish_locked(target);
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

/* On every loop of the target's: the first that is driven makes the call, and the others find nothing left. */
static void queue_everywhere_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules)
        queue_locked(container_of(node, struct schedule, node));
}

void schedule_owe_callback_locked(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags)
{
    const bool due = is_due_locked(target); /* then it is queued, or in a scheduler's hands */

    if (list_is_empty(&target->schedules) || (!due && target->current.flags == flags))
        return;
    target->announce = true;
    if (!due)
        queue_everywhere_locked(target);
}

void schedule_owe_callback(struct SCNetworkReachability *target, SCNetworkReachabilityFlags flags)
{
    pthread_mutex_lock(&target->lock);
    schedule_owe_callback_locked(target, flags);
    pthread_mutex_unlock(&target->lock);
}

static void delivery_end(struct SCNetworkReachability *target, bool begun)
{
    if (!target_is_ours(target))
        return;
    pthread_mutex_lock(&target->lock);
    if (begun)
        target->delivering = false;
    if (!target->delivering && is_due_locked(target))
        queue_everywhere_locked(target);
    pthread_mutex_unlock(&target->lock);
}

static void delivery_call(struct schedule *schedule, const struct delivery *delivery)
{
    context_call(delivery->context, delivery->callback, schedule->target, delivery->flags);
}

/* Where a scheduler runs its work. */
static void handed_run(struct counted *owner)
{
    struct schedule *schedule = container_of(owner, struct schedule, counted);
    struct delivery  delivery;
    bool             begun;

    if (!target_is_ours(schedule->target))
        return;
    begun = delivery_begin(schedule, true, &delivery) == CALL_HERE;
    if (begun)
        delivery_call(schedule, &delivery);
    /* First, so that what the end finds to be due can be handed over. */
    handover_done(schedule->handover);
    delivery_end(schedule->target, begun);
    if (begun)
        counted_release(&schedule->target->counted);
}

static bool job_run(struct job *job)
{
    struct schedule   *schedule = container_of(job, struct schedule, job);
    struct delivery    delivery;
    const enum verdict verdict = delivery_begin(schedule, schedule->handover == NULL, &delivery);

    if (verdict == CALL_ELSEWHERE)
        handover_post(schedule->handover, &schedule->counted);
    if (verdict == CALL_HERE) {
        delivery_call(schedule, &delivery);
        delivery_end(schedule->target, true);
        counted_release(&schedule->target->counted);
    }
    counted_release(&schedule->counted);
    return verdict == CALL_HERE;
}

static void set_current_locked(struct SCNetworkReachability *target, const struct path *path)
{
    atomic_fetch_add(&target->answers, 1);
    target->current = *path;
    target->evaluations++;
    target->announce = target->announce || target->announce_answer;
    target->announce_answer = false;
    publish_locked(target);
}

/* The monitor's answer. With several loops, one may have asked later and been heard first. */
static bool answered(struct watch *watch, const struct path *path, unsigned long answers)
{
    struct schedule              *schedule = container_of(watch, struct schedule, watch);
    struct SCNetworkReachability *target = schedule->target;
    bool                          in_order;

    pthread_mutex_lock(&target->lock);
    in_order = answers == atomic_load(&target->answers);
    if (schedule->active && in_order) {
        set_current_locked(target, path);
        if (is_due_locked(target))
            queue_locked(schedule);
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

/* ---- Scheduling ------------------------------------------------------------------------------------------------- */

static void schedule_free(struct counted *counted)
{
    struct schedule *schedule = container_of(counted, struct schedule, counted);

    questions_release(schedule->watch.questions);
    SCRunLoopRelease(schedule->loop);
    counted_release(&schedule->target->memory);
    free(schedule);
}

static void member_ended(struct member *member);
static void stirred(struct resident *resident, bool changed);

static struct schedule *schedule_create(struct SCNetworkReachability *target, SCRunLoopRef loop)
{
    struct schedule *schedule = calloc(1, sizeof *schedule);

    if (schedule == NULL)
        return NULL;
    counted_init(&schedule->counted, schedule_free);
    list_init(&schedule->node);
    list_init(&schedule->change);
    counted_retain(&target->memory);
    schedule->target = target;
    schedule->loop = SCRunLoopRetain(loop);
    schedule->job = (struct job){ .owner = &schedule->counted, .run = job_run };
    list_init(&schedule->job.node);
    schedule->member = (struct member){ .owner = &schedule->counted, .ended = member_ended };
    list_init(&schedule->member.node);
    schedule->watch = (struct watch){ .owner = &schedule->counted,
                                      .extras = SEARCH_EXPIRY | (target->notify_path ? SEARCH_SOURCE : 0u),
                                      .answers = &target->answers,
                                      .answered = answered };
    list_init(&schedule->watch.node);
    list_init(&schedule->watch.dirty);
    schedule->resident = (struct resident){ .owner = &schedule->counted, .stirred = stirred };
    list_init(&schedule->resident.node);
    return schedule;
}

static struct schedule *find_locked(struct SCNetworkReachability *target, SCRunLoopRef loop)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        if (schedule->loop == loop)
            return schedule;
    }
    return NULL;
}

/* The schedule that is on a scheduler: there can be no other beside it. */
static struct schedule *find_handed_locked(struct SCNetworkReachability *target)
{
    struct schedule *first;

    if (list_is_empty(&target->schedules))
        return NULL;
    first = container_of(target->schedules.next, struct schedule, node);
    return first->handover != NULL ? first : NULL;
}

/* Each schedule evaluates, without waiting for RTNL; the loop asks once more behind it. What the first one finds counts
 * as delivered. */
static int evaluate_locked(struct SCNetworkReachability *target)
{
    struct path path;
    const int   error = netns_ask(target->netns, target->questions, target->notify_path ? SEARCH_SOURCE : 0, &path);

    if (error != 0)
        return error;
    set_current_locked(target, &path);
    if (list_is_empty(&target->schedules)) {
        target->delivered = path;
        target->announce = target->kind == TARGET_NAME && !target->pending; /* others have it with their answer */
        publish_locked(target);
    }
    return 0;
}

/* Makes the schedule a member of its loop. False: the loop's thread has ended. */
static bool join_locked(struct schedule *schedule)
{
    bool joined;

    runloop_lock(schedule->loop);
    joined = runloop_add_member_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    return joined;
}

/* A name's schedule lives in its loop's surroundings, which know what is asked while the name is not resolved. 0 or an
 * errno. */
static int move_in_locked(struct schedule *schedule, bool *ret_trusted)
{
    struct SCNetworkReachability *target = schedule->target;
    const int                     error = surroundings_join(schedule->loop, target->netns, &schedule->resident);

    if (error != 0 || !list_is_empty(&target->schedules))
        return error;
    *ret_trusted = surroundings_are_quiet(schedule->loop, &schedule->resident);
    if (!*ret_trusted)
        return name_doubt_locked(target);
    name_ask_locked(target, surroundings_questions(schedule->loop, &schedule->resident));
    return 0;
}

/* A schedule becomes one of its target's. 0 or a status; then nothing changed. */
static int add_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    SCRunLoopRef                  loop = schedule->loop;
    bool                          trusted = false; /* what is known of the resolver's files */
    int                           error = 0;

    schedule->active = true;
    if (target->pending)
        error = move_in_locked(schedule, &trusted);
    schedule->watch.questions = target->questions;
    counted_retain(&target->questions->counted);
    /* First the watch, then the evaluation: what changes in between is heard. */
    if (error == 0)
        error = monitor_watch(loop, target->netns, &schedule->watch);
    if (error == 0)
        error = evaluate_locked(target);
    if (error == 0 && !join_locked(schedule))
        error = kSCStatusInvalidArgument;
    if (error != 0) {
        schedule->active = false;
        surroundings_leave(loop, &schedule->resident);
        monitor_unwatch(loop, &schedule->watch);
        if (list_is_empty(&target->schedules))
            atomic_store_explicit(&target->state, 0, memory_order_release);
        return error;
    }
    counted_retain(&target->counted);
    list_append(&target->schedules, &schedule->node);
    if (target->pending && target->schedules.next == &schedule->node)
        name_begin_locked(target, trusted);
    else if (target->pending)
        surroundings_set_deadline(loop, &schedule->resident, target->look_again_at);
    if (is_due_locked(target))
        queue_locked(schedule);
    return 0;
}

static SCBoolean succeed_or_set(int error)
{
    if (error != 0)
        error_set(error);
    return error == 0;
}

static int loop_and_mode_status(SCRunLoopRef loop, SCRunLoopMode mode)
{
    const int status = runloop_status(loop);

    return status != 0 || runloop_mode_is_valid(mode) ? status : kSCStatusInvalidArgument;
}

/* One time more on a loop. 0 or a status; then *ret, if it is not NULL, is the caller's to release. */
static int schedule_on_loop_locked(struct SCNetworkReachability *target, SCRunLoopRef loop, SCRunLoopMode mode,
                                   struct schedule **ret)
{
    struct schedule *schedule = find_locked(target, loop);
    int              error = 0;

    *ret = NULL;
    if (find_handed_locked(target) != NULL)
        return kSCStatusInvalidArgument;
    if (schedule == NULL) {
        schedule = *ret = schedule_create(target, loop);
        error = schedule == NULL ? ENOMEM : add_locked(schedule);
    }
    if (error == 0)
        schedule->times[mode_index(mode)]++;
    return error;
}

SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                   SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule              *fresh;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    error = loop_and_mode_status(runLoop, runLoopMode);
    if (error != 0)
        return succeed_or_set(error);
    pthread_mutex_lock(&self->lock);
    error = schedule_on_loop_locked(self, runLoop, runLoopMode, &fresh);
    pthread_mutex_unlock(&self->lock);
    if (error != 0 && fresh != NULL)
        counted_release(&fresh->counted);
    return succeed_or_set(error);
}

/* Takes a schedule out of everything. The list's reference is then the caller's, to be dropped without the lock. */
static void remove_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    bool                          was_queued;

    schedule->active = false;
    surroundings_leave(schedule->loop, &schedule->resident);
    monitor_unwatch(schedule->loop, &schedule->watch);
    runloop_lock(schedule->loop);
    was_queued = runloop_cancel_job_locked(schedule->loop, &schedule->job);
    list_remove(&schedule->change);
    runloop_remove_member_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    if (was_queued)
        counted_release(&schedule->counted); /* not the last one */
    list_remove(&schedule->node);
    if (target->pending && list_is_empty(&target->schedules))
        name_end_locked(target);
    if (list_is_empty(&target->schedules))
        atomic_store_explicit(&target->state, 0, memory_order_release);
    else if (is_due_locked(target) && !target->delivering)
        queue_everywhere_locked(target);
}

/* Drops what the target's list held. Without the lock: the last one runs the user's hooks. */
static void release_ended(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    counted_release(&schedule->counted);
    counted_release(&target->counted);
}

/* One time less on a loop. Returns the schedule when that was the last, to be released without the lock. */
static int unschedule_from_loop_locked(struct SCNetworkReachability *target, SCRunLoopRef loop, SCRunLoopMode mode,
                                       struct schedule **ret_ended)
{
    struct schedule *schedule = find_locked(target, loop);

    if (schedule == NULL || schedule->times[mode_index(mode)] == 0)
        return kSCStatusInvalidArgument;
    schedule->times[mode_index(mode)]--;
    if (schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON] == 0) {
        remove_locked(schedule);
        *ret_ended = schedule;
    }
    return 0;
}

SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                     SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule              *ended = NULL;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    error = loop_and_mode_status(runLoop, runLoopMode);
    if (error != 0)
        return succeed_or_set(error);
    pthread_mutex_lock(&self->lock);
    error = unschedule_from_loop_locked(self, runLoop, runLoopMode, &ended);
    pthread_mutex_unlock(&self->lock);
    if (ended != NULL)
        release_ended(ended);
    return succeed_or_set(error);
}

/* The loop's thread ended. */
static void member_ended(struct member *member)
{
    struct schedule              *schedule = container_of(member, struct schedule, member);
    struct SCNetworkReachability *target = schedule->target;
    bool                          ended;

    pthread_mutex_lock(&target->lock);
    ended = schedule->active;
    if (ended)
        remove_locked(schedule);
    pthread_mutex_unlock(&target->lock);
    if (ended)
        release_ended(schedule);
    counted_release(&schedule->counted);
}

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

static bool is_scheduled(struct SCNetworkReachability *target)
{
    bool scheduled;

    pthread_mutex_lock(&target->lock);
    scheduled = !list_is_empty(&target->schedules);
    pthread_mutex_unlock(&target->lock);
    return scheduled;
}

/* Lets go of a schedule that was on a scheduler, or was to be. Runs the user's hooks. */
static void release_handed(struct schedule *schedule)
{
    if (schedule->handover != NULL)
        handover_end(schedule->handover);
    service_release(schedule->service);
    counted_release(&schedule->counted);
}

static int schedule_on_scheduler(struct SCNetworkReachability *target, const SCNetworkReachabilityScheduler *scheduler)
{
    struct schedule *schedule;
    struct service  *service;
    int              error;

    if (is_scheduled(target))
        return kSCStatusInvalidArgument;
    error = service_acquire(&service);
    if (error != 0)
        return error;
    schedule = schedule_create(target, service_loop(service));
    if (schedule == NULL) {
        service_release(service);
        return ENOMEM;
    }
    schedule->service = service;
    schedule->handover = handover_create(scheduler, handed_run, &schedule->counted);
    if (schedule->handover == NULL) {
        error = ENOMEM;
    } else if (!target_is_ours(target)) { /* a fork inside the retain hook */
        error = ECHILD;
    } else {
        pthread_mutex_lock(&target->lock);
        error = list_is_empty(&target->schedules) ? add_locked(schedule) : kSCStatusInvalidArgument;
        pthread_mutex_unlock(&target->lock);
    }
    if (error != 0)
        release_handed(schedule);
    return error;
}

static int unschedule_from_scheduler(struct SCNetworkReachability *target)
{
    struct schedule *schedule;

    pthread_mutex_lock(&target->lock);
    schedule = find_handed_locked(target);
    if (schedule != NULL)
        remove_locked(schedule);
    pthread_mutex_unlock(&target->lock);
    if (schedule == NULL)
        return kSCStatusInvalidArgument;
    release_handed(schedule);
    counted_release(&target->counted);
    return 0;
}

SCBoolean SCNetworkReachabilitySetScheduler(SCNetworkReachabilityRef              target,
                                            const SCNetworkReachabilityScheduler *scheduler)
{
    struct SCNetworkReachability *self;

    if (!target_check(target, &self))
        return 0;
    if (scheduler == NULL)
        return succeed_or_set(unschedule_from_scheduler(self));
    if (scheduler->version != 0 || scheduler->perform == NULL)
        return succeed_or_set(kSCStatusInvalidArgument);
    return succeed_or_set(schedule_on_scheduler(self, scheduler));
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

void schedule_ask_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        monitor_ask(schedule->loop, &schedule->watch, target->questions);
    }
}

void schedule_set_deadline_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        surroundings_set_deadline(schedule->loop, &schedule->resident, target->look_again_at);
    }
}

static void stirred(struct resident *resident, bool changed)
{
    struct schedule *schedule = container_of(resident, struct schedule, resident);

    pthread_mutex_lock(&schedule->target->lock);
    if (schedule->active)
        name_look_again_locked(schedule->target, changed);
    pthread_mutex_unlock(&schedule->target->lock);
}

struct schedule_summary schedule_summarize(struct SCNetworkReachability *target)
{
    struct schedule_summary summary = { 0 };

    pthread_mutex_lock(&target->lock);
    list_for_each(node, &target->schedules) {
        const struct schedule        *schedule = container_of(node, struct schedule, node);
        const struct monitor_counters counters = monitor_count(schedule->loop, &schedule->watch);

        summary.loops++;
        summary.handed = schedule->handover != NULL;
        summary.times += schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON];
        summary.counters.overruns += counters.overruns;
        summary.counters.queries += counters.queries;
    }
    pthread_mutex_unlock(&target->lock);
    return summary;
}
