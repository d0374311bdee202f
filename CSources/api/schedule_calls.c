/* SPDX-License-Identifier: MIT */
/*
 * The calls that schedule and unschedule a target, on run loops and with schedulers.
 *
 * What this file must never do: run user code (a retain or release hook) with a lock held, or leave a schedule in a
 * monitor or in a queue after it left its target's list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/delivery.h"
#include "api/name.h"
#include "api/network.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"

/* ---- One schedule ----------------------------------------------------------------------------------------------- */

static void free_schedule(struct counted *counted)
{
    struct schedule *schedule = container_of(counted, struct schedule, counted);

    questions_release(schedule->watch.questions);
    SCRunLoopRelease(schedule->loop);
    counted_release(&schedule->target->memory);
    free(schedule);
}

static void end_schedule_of_member(struct member *member);
static void repeat_lookup_of_watch(struct name_watch *name_watch, bool changed);

/* Whether the path of the target, which is on no other loop, can be that of other targets, too. Option NotifyPath
 * reports more of the path than they share. */
static bool can_share_path(const struct SCNetworkReachability *target)
{
    return target->kind == TARGET_ADDRESS && target->details == NULL && target->initial->count == 1 &&
           question_is_plain(&target->initial->items[0]);
}

static struct schedule *create_schedule(struct SCNetworkReachability *target, SCRunLoopRef loop)
{
    const size_t     name_size = target->lookups != NULL ? sizeof(struct schedule_name) : 0;
    const size_t     network_size = target->notify_network ? sizeof(struct schedule_network) : 0;
    struct schedule *schedule = calloc(1, sizeof *schedule + name_size + network_size);

    if (schedule == NULL)
        return NULL;
    if (name_size > 0) {
        schedule->name = (void *)(schedule + 1);
        schedule->name->schedule = schedule;
        schedule->name->watch = (struct name_watch){ .owner = &schedule->counted, .due = repeat_lookup_of_watch };
        list_init(&schedule->name->watch.node);
    }
    if (network_size > 0) {
        schedule->network = (void *)((char *)(schedule + 1) + name_size);
        network_schedule_init(schedule);
    }
    counted_init(&schedule->counted, free_schedule);
    list_init(&schedule->node);
    list_init(&schedule->change);
    counted_retain(&target->memory);
    schedule->target = target;
    schedule->loop = SCRunLoopRetain(loop);
    schedule->job = (struct job){ .owner = &schedule->counted, .run = delivery_run_job };
    list_init(&schedule->job.node);
    schedule->member = (struct member){ .owner = &schedule->counted, .ended = end_schedule_of_member };
    list_init(&schedule->member.node);
    schedule->watch = (struct path_watch){ .owner = &schedule->counted,
                                           .extras = QUERY_EXPIRY | (target->details != NULL ? QUERY_SOURCE : 0u),
                                           .can_share = can_share_path(target),
                                           .path_version = &target->path_version,
                                           .accept = delivery_accept_path };
    return schedule;
}

/* Whether a loop's monitor may find other flags, as it also reads the other ends of tunnels. */
static bool is_provisional(const struct path *path)
{
    return path->dependencies.unknown_link != 0 || path->wireguard;
}

/* Evaluates without waiting for RTNL. The loop's monitor evaluates again later, after the barrier. The result of the
 * first schedule counts as delivered. Returns 0 or an errno. */
static int evaluate_new_schedule_locked(struct SCNetworkReachability *target)
{
    struct path path;
    const int   error = netns_evaluate(target->netns, target->questions, target->details != NULL ? QUERY_SOURCE : 0,
                                       &path);

    if (error != 0)
        return error;
    delivery_set_current_locked(target, &path);
    if (list_is_empty(&target->schedules)) {
        delivery_set_delivered_locked(target);
        /* A name's first result brings a callback. That of localhost is here already. */
        if (target->kind == TARGET_NAME && target->lookups == NULL)
            delivery_set_owed_locked(target);
    } else if (is_provisional(&path)) {
        schedule_set_questions_locked(target); /* the other loops evaluate again, too: one may have known more */
    }
    return 0;
}

/* Returns false if the loop's thread has ended. */
static bool add_to_loop(struct schedule *schedule)
{
    bool added;

    runloop_lock(schedule->loop);
    added = runloop_add_member_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    return added;
}

/* Watches what look-ups depend on. *ret_hosts_known: see name_start_lookups_locked. Returns 0 or an errno. */
static int add_to_name_monitor(struct schedule *schedule, bool *ret_hosts_known)
{
    struct name_watch *watch = &schedule->name->watch;
    const int          error = name_monitor_join(schedule->loop, schedule->target->netns, watch);

    if (error == 0)
        *ret_hosts_known = name_monitor_files_are_current(schedule->loop, watch);
    return error;
}

/* The target will be on two loops, which may evaluate its path at different times. Returns 0 or ENOMEM. */
static int isolate_schedules_locked(struct schedule *added)
{
    int error = 0;

    list_for_each(node, &added->target->schedules) {
        struct schedule *other = container_of(node, struct schedule, node);

        added->watch.can_share = false;
        if (error == 0)
            error = monitor_isolate(other->loop, &other->watch);
    }
    return error;
}

static void leave_name_monitor(struct schedule *schedule)
{
    if (schedule->name != NULL)
        name_monitor_leave(schedule->loop, &schedule->name->watch);
}

/* Adds a new schedule to its target. Returns 0 or a status; if it fails, nothing has changed. */
static int add_schedule_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    SCRunLoopRef                  loop = schedule->loop;
    bool                          hosts_known = false;
    int                           error = isolate_schedules_locked(schedule);

    schedule->active = true;
    if (error == 0 && schedule->name != NULL)
        error = add_to_name_monitor(schedule, &hosts_known);
    schedule->watch.questions = target->questions;
    counted_retain(&target->questions->counted);
    /* Watch first, then evaluate: no change in between is missed. */
    if (error == 0)
        error = monitor_watch(loop, target->netns, &schedule->watch);
    if (error == 0)
        error = evaluate_new_schedule_locked(target);
    if (error == 0 && target->notify_network)
        error = network_join_locked(schedule);
    if (error == 0 && !add_to_loop(schedule))
        error = error_invalid("runLoop: its thread has ended");
    if (error != 0) {
        schedule->active = false;
        leave_name_monitor(schedule);
        network_leave_locked(schedule);
        network_forget_locked(target);
        monitor_unwatch(loop, &schedule->watch);
        if (list_is_empty(&target->schedules))
            atomic_store_explicit(&target->published, 0, memory_order_release);
        return error;
    }
    counted_retain(&target->counted);
    list_append(&target->schedules, &schedule->node);
    if (schedule->name != NULL && target->schedules.next == &schedule->node)
        name_start_lookups_locked(target, hosts_known);
    else if (schedule->name != NULL)
        name_monitor_set_deadline(loop, &schedule->name->watch, target->lookups->next);
    if (delivery_is_due_locked(target))
        delivery_queue_locked(schedule);
    return 0;
}

/* The caller then calls release_removed_schedule, without the lock. */
static void remove_schedule_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    bool                          was_queued;

    schedule->active = false;
    target->change_queued = false; /* it may be queued on this loop: then another loop must queue it */
    leave_name_monitor(schedule);
    network_leave_locked(schedule);
    monitor_unwatch(schedule->loop, &schedule->watch);
    runloop_lock(schedule->loop);
    was_queued = runloop_cancel_job_locked(schedule->loop, &schedule->job);
    list_remove(&schedule->change);
    runloop_remove_member_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    if (was_queued)
        counted_release(&schedule->counted); /* never the last reference: the list holds one */
    list_remove(&schedule->node);
    network_forget_locked(target);
    if (target->lookups != NULL && list_is_empty(&target->schedules))
        name_stop_lookups_locked(target);
    if (list_is_empty(&target->schedules))
        atomic_store_explicit(&target->published, 0, memory_order_release);
    else if (delivery_is_due_locked(target) && !target->is_delivering)
        delivery_queue_everywhere_locked(target);
}

/* Releases a schedule that its target's list does not hold. Runs the scheduler's release hook. */
static void release_schedule(struct schedule *schedule)
{
    if (schedule->work != NULL)
        scheduler_work_end(schedule->work);
    if (schedule->thread_user != NULL)
        library_thread_release(schedule->thread_user);
    counted_release(&schedule->counted);
}

/* Releases what the target's list held. If this is the last reference to the target, runs the user's hooks. */
static void release_removed_schedule(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    release_schedule(schedule);
    counted_release(&target->counted);
}

/* The loop's thread has ended. Consumes a reference. */
static void end_schedule_of_member(struct member *member)
{
    struct schedule              *schedule = container_of(member, struct schedule, member);
    struct SCNetworkReachability *target = schedule->target;
    bool                          was_active;

    pthread_mutex_lock(&target->lock);
    was_active = schedule->active;
    if (was_active)
        remove_schedule_locked(schedule);
    pthread_mutex_unlock(&target->lock);
    if (was_active)
        release_removed_schedule(schedule);
    counted_release(&schedule->counted);
}

static void repeat_lookup_of_watch(struct name_watch *name_watch, bool changed)
{
    struct schedule *schedule = container_of(name_watch, struct schedule_name, watch)->schedule;

    pthread_mutex_lock(&schedule->target->lock);
    if (schedule->active)
        name_repeat_lookup_locked(schedule->target, changed);
    pthread_mutex_unlock(&schedule->target->lock);
}

/* ---- The schedules of a target ---------------------------------------------------------------------------------- */

static struct schedule *find_schedule_locked(struct SCNetworkReachability *target, SCRunLoopRef loop)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        if (schedule->loop == loop)
            return schedule;
    }
    return NULL;
}

/* Returns the schedule with a scheduler. It is the only one then. NULL: the target is on no scheduler. */
static struct schedule *find_scheduler_schedule_locked(struct SCNetworkReachability *target)
{
    struct schedule *first;

    if (list_is_empty(&target->schedules))
        return NULL;
    first = container_of(target->schedules.next, struct schedule, node);
    return first->work != NULL ? first : NULL;
}

/* ---- Run loops -------------------------------------------------------------------------------------------------- */

static SCBoolean return_status(int error)
{
    if (error != 0)
        error_set(error);
    return error == 0;
}

static int mode_index(SCRunLoopMode mode)
{
    return strcmp(mode, kSCRunLoopDefaultMode) == 0 ? MODE_DEFAULT : MODE_COMMON;
}

static int loop_and_mode_status(SCRunLoopRef loop, SCRunLoopMode mode)
{
    const int status = runloop_status(loop);

    return status != 0 || runloop_mode_is_valid(mode) ? status : error_invalid(RUNLOOP_NO_MODE);
}

/* Returns 0 or a status. If it fails, the caller releases *ret_added without the lock, if that is not NULL. */
static int schedule_on_loop_locked(struct SCNetworkReachability *target, SCRunLoopRef loop, SCRunLoopMode mode,
                                   struct schedule **ret_added)
{
    struct schedule *schedule = find_schedule_locked(target, loop);
    int              error = 0;

    *ret_added = NULL;
    if (find_scheduler_schedule_locked(target) != NULL)
        return error_invalid("target: on a scheduler, so not also on a run loop");
    if (schedule == NULL) {
        schedule = *ret_added = create_schedule(target, loop);
        error = schedule == NULL ? ENOMEM : add_schedule_locked(schedule);
    }
    if (error == 0)
        schedule->times[mode_index(mode)]++;
    return error;
}

SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                   SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule              *added;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    error = loop_and_mode_status(runLoop, runLoopMode);
    if (error != 0)
        return return_status(error);
    pthread_mutex_lock(&self->lock);
    error = schedule_on_loop_locked(self, runLoop, runLoopMode, &added);
    pthread_mutex_unlock(&self->lock);
    if (error != 0 && added != NULL)
        release_schedule(added);
    return return_status(error);
}

/* Returns 0 or a status. Sets *ret_removed if the schedule was removed; the caller releases it without the lock. */
static int unschedule_from_loop_locked(struct SCNetworkReachability *target, SCRunLoopRef loop, SCRunLoopMode mode,
                                       struct schedule **ret_removed)
{
    struct schedule *schedule = find_schedule_locked(target, loop);

    if (schedule == NULL || schedule->times[mode_index(mode)] == 0)
        return error_invalid("target: not scheduled on this run loop in this mode");
    schedule->times[mode_index(mode)]--;
    if (schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON] == 0) {
        remove_schedule_locked(schedule);
        *ret_removed = schedule;
    }
    return 0;
}

SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                     SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule              *removed = NULL;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    error = loop_and_mode_status(runLoop, runLoopMode);
    if (error != 0)
        return return_status(error);
    pthread_mutex_lock(&self->lock);
    error = unschedule_from_loop_locked(self, runLoop, runLoopMode, &removed);
    pthread_mutex_unlock(&self->lock);
    if (removed != NULL)
        release_removed_schedule(removed);
    return return_status(error);
}

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

#define ALREADY_SCHEDULED "target: scheduled already"

static bool is_scheduled(struct SCNetworkReachability *target)
{
    bool scheduled;

    pthread_mutex_lock(&target->lock);
    scheduled = !list_is_empty(&target->schedules);
    pthread_mutex_unlock(&target->lock);
    return scheduled;
}

static int schedule_on_scheduler(struct SCNetworkReachability *target, const SCNetworkReachabilityScheduler *scheduler)
{
    struct schedule            *schedule;
    struct library_thread_user *user;
    int                         error;

    if (is_scheduled(target))
        return error_invalid(ALREADY_SCHEDULED);
    error = library_thread_acquire(netns_handle(target->netns), &user);
    if (error != 0)
        return error;
    schedule = create_schedule(target, library_thread_loop(user));
    if (schedule == NULL) {
        library_thread_release(user);
        return ENOMEM;
    }
    schedule->thread_user = user;
    schedule->work = scheduler_work_create(scheduler, delivery_run_work, &schedule->counted);
    if (schedule->work == NULL) {
        error = ENOMEM;
    } else if (target_is_inherited(target)) { /* a fork inside the retain hook */
        error = ECHILD;
    } else {
        pthread_mutex_lock(&target->lock);
        error = list_is_empty(&target->schedules) ? add_schedule_locked(schedule) : error_invalid(ALREADY_SCHEDULED);
        pthread_mutex_unlock(&target->lock);
    }
    if (error != 0)
        release_schedule(schedule);
    return error;
}

static int unschedule_from_scheduler(struct SCNetworkReachability *target)
{
    struct schedule *schedule;

    pthread_mutex_lock(&target->lock);
    schedule = find_scheduler_schedule_locked(target);
    if (schedule != NULL)
        remove_schedule_locked(schedule);
    pthread_mutex_unlock(&target->lock);
    if (schedule == NULL)
        return error_invalid("target: on no scheduler");
    release_removed_schedule(schedule);
    return 0;
}

SCBoolean SCNetworkReachabilitySetScheduler(SCNetworkReachabilityRef              target,
                                            const SCNetworkReachabilityScheduler *scheduler)
{
    struct SCNetworkReachability *self;

    if (!target_check(target, &self))
        return 0;
    if (scheduler == NULL)
        return return_status(unschedule_from_scheduler(self));
    if (scheduler->version != 0 || scheduler->perform == NULL)
        return return_status(
            error_invalid(scheduler->version != 0 ? "scheduler->version: not 0" : "scheduler->perform: NULL"));
    return return_status(schedule_on_scheduler(self, scheduler));
}
