/* SPDX-License-Identifier: MIT */
/*
 * Which loops and schedulers a target is on.
 *
 * What this file must never do: run user code (a hook that retains or releases) with a lock held, or leave a schedule
 * in anything once it is out of its target's list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/delivery.h"
#include "api/name.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"

static int mode_index(SCRunLoopMode mode)
{
    return strcmp(mode, kSCRunLoopDefaultMode) == 0 ? MODE_DEFAULT : MODE_COMMON;
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
static void stirred(struct name_watch *name_watch, bool changed);

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
    schedule->job = (struct job){ .owner = &schedule->counted, .run = delivery_run_job };
    list_init(&schedule->job.node);
    schedule->member = (struct member){ .owner = &schedule->counted, .ended = member_ended };
    list_init(&schedule->member.node);
    schedule->watch = (struct watch){ .owner = &schedule->counted,
                                      .extras = QUERY_EXPIRY | (target->notify_path ? QUERY_SOURCE : 0u),
                                      .answers = &target->answers,
                                      .answered = delivery_answered };
    list_init(&schedule->watch.node);
    list_init(&schedule->watch.dirty);
    schedule->name_watch = (struct name_watch){ .owner = &schedule->counted, .due = stirred };
    list_init(&schedule->name_watch.node);
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
    return first->work != NULL ? first : NULL;
}

/* Each schedule evaluates, without waiting for RTNL; the loop asks once more behind it. What the first one finds counts
 * as delivered. */
static int evaluate_locked(struct SCNetworkReachability *target)
{
    struct path path;
    const int   error = netns_evaluate(target->netns, target->questions, target->notify_path ? QUERY_SOURCE : 0, &path);

    if (error != 0)
        return error;
    delivery_set_current_locked(target, &path);
    if (list_is_empty(&target->schedules)) {
        target->delivered = path;
        target->announce = target->kind == TARGET_NAME && !target->pending; /* others have it with their answer */
        delivery_publish_locked(target);
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
    const int                     error = name_monitor_join(schedule->loop, target->netns, &schedule->name_watch);

    if (error != 0 || !list_is_empty(&target->schedules))
        return error;
    *ret_trusted = name_monitor_files_are_current(schedule->loop, &schedule->name_watch);
    if (!*ret_trusted)
        return name_refresh_pending_locked(target);
    name_set_questions_locked(target, name_monitor_pending_questions(schedule->loop, &schedule->name_watch));
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
        name_monitor_leave(loop, &schedule->name_watch);
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
        name_monitor_set_deadline(loop, &schedule->name_watch, target->look_again_at);
    if (delivery_is_due_locked(target))
        delivery_queue_locked(schedule);
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
    name_monitor_leave(schedule->loop, &schedule->name_watch);
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
    else if (delivery_is_due_locked(target) && !target->delivering)
        delivery_queue_everywhere_locked(target);
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
    if (schedule->work != NULL)
        scheduler_work_end(schedule->work);
    library_thread_release(schedule->thread);
    counted_release(&schedule->counted);
}

static int schedule_on_scheduler(struct SCNetworkReachability *target, const SCNetworkReachabilityScheduler *scheduler)
{
    struct schedule       *schedule;
    struct library_thread *thread;
    int                    error;

    if (is_scheduled(target))
        return kSCStatusInvalidArgument;
    error = library_thread_acquire(&thread);
    if (error != 0)
        return error;
    schedule = schedule_create(target, library_thread_loop(thread));
    if (schedule == NULL) {
        library_thread_release(thread);
        return ENOMEM;
    }
    schedule->thread = thread;
    schedule->work = scheduler_work_create(scheduler, delivery_run_handed, &schedule->counted);
    if (schedule->work == NULL) {
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

static void stirred(struct name_watch *name_watch, bool changed)
{
    struct schedule *schedule = container_of(name_watch, struct schedule, name_watch);

    pthread_mutex_lock(&schedule->target->lock);
    if (schedule->active)
        name_look_again_locked(schedule->target, changed);
    pthread_mutex_unlock(&schedule->target->lock);
}
