/* SPDX-License-Identifier: MIT */
/*
 * Schedules: a target is scheduled and unscheduled, on a run loop or with a scheduler.
 *
 * What this file must never do: run user code (a retain or release hook) with a lock held, or leave a schedule in a
 * monitor or in a queue after it left its target.
 */
#ifdef __linux__
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/target.h"
#include "base/error.h"
#include "route/shared_socket.h"

/* ---- The object ------------------------------------------------------------------------------------------------- */

static void free_schedule(struct counted *counted)
{
    struct schedule *schedule = container_of(counted, struct schedule, member.counted);

    reach_questions_release(schedule->watch.questions);
    SCRunLoopRelease(schedule->loop);
    counted_release(&schedule->target->memory);
    free(schedule);
}

/* Releases a schedule that is not its target's. Runs the scheduler's release hook. */
static void reach_schedule_release(struct schedule *schedule)
{
    if (schedule->scheduler != NULL)
        reach_scheduler_end(schedule->scheduler);
    if (schedule->thread != NULL)
        reach_library_thread_release(schedule->thread);
    counted_release(&schedule->member.counted);
}

/* Takes the schedule out of all monitors and queues. */
static void leave_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    reach_network_service_leave(schedule->loop, &schedule->network_user);
    reach_monitor_unwatch(schedule->loop, &schedule->watch);
    reach_runloop_remove_member(schedule->loop, &schedule->member);
    reach_network_path_release(target->network);
    target->network = NULL;
    atomic_store_explicit(&target->published, 0, memory_order_release);
}

/* The next schedule begins anew. The caller then calls release_removed, without the lock. */
static void remove_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    leave_locked(schedule);
    target->schedule = NULL;
    if (target->lookups != NULL)
        reach_name_stop_lookups_locked(target);
    target->change_queued = false;
    target->delivered.flow_unsettled = true;
    target->hop = (struct target_hop){ 0 };
}

/* Releases a removed schedule, and its reference to the target. If that was the last one, runs the user's hooks. */
static void release_removed(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    reach_schedule_release(schedule);
    reach_target_release(target);
}

/* The loop's thread has ended. Consumes a reference. */
static void end_schedule_of_member(struct member *member)
{
    struct schedule *schedule = container_of(member, struct schedule, member);
    bool was_active;

    target_lock(schedule->target);
    was_active = schedule->target->schedule == schedule;
    if (was_active)
        remove_locked(schedule);
    target_unlock(schedule->target);
    if (was_active)
        release_removed(schedule);
    counted_release(&schedule->member.counted);
}

static struct counted *owner_of_watch(struct path_watch *watch)
{
    return &container_of(watch, struct schedule, watch)->member.counted;
}

static void report_to_name(struct network_user *user, struct network_path *network, bool changed)
{
    struct schedule *schedule = container_of(user, struct schedule, network_user);

    if (network != NULL)
        reach_delivery_follow_path(schedule, reach_network_service_default_path(network));
    if (network != NULL && !changed)
        return;
    target_lock(schedule->target);
    if (schedule->target->schedule == schedule)
        reach_name_repeat_lookup_locked(schedule->target, changed);
    target_unlock(schedule->target);
}

static const struct path_watch_type watch_type = { .owner = owner_of_watch,
                                                   .prefetch = reach_delivery_prefetch,
                                                   .accept = reach_delivery_accept_path };
static const struct member_type member_type = { .run = reach_delivery_run_job, .ended = end_schedule_of_member };

/* What the target reports besides flags and interface. */
static unsigned extras_of(const struct SCNetworkReachability *target)
{
    return (target->details != NULL ? QUERY_SOURCE : 0u) | (target->reports_flow ? QUERY_FLOW : 0u) |
           (target->notify_next_hop ? QUERY_NEXT_HOP : 0u);
}

/* NULL: no memory. */
static struct schedule *reach_schedule_create(struct SCNetworkReachability *target, SCRunLoopRef loop)
{
    struct schedule *schedule = calloc(1, sizeof *schedule);
    const struct question *question = &target->initial->items[0];
    const bool is_single = target->lookups == NULL && target->initial->count == 1;
    struct question_group group;

    if (schedule == NULL)
        return NULL;
    counted_init(&schedule->member.counted, free_schedule);
    reach_member_init(&schedule->member, &member_type);
    counted_retain(&target->memory);
    schedule->target = target;
    schedule->loop = SCRunLoopRetain(loop);
    schedule->watch = (struct path_watch){ .type = &watch_type, .extras = (uint8_t)(QUERY_EXPIRY | extras_of(target)) };
    /* With NotifyPath, a target reports more of its path than others share; with NotifyNextHop too. */
    schedule->watch.can_share = target->details == NULL && !target->notify_next_hop && is_single &&
                                (reach_question_is_plain(question) || reach_question_find_group(question, &group));
    schedule->network_user = (struct network_user){ .user.owner = &schedule->member.counted, .report = report_to_name };
    return schedule;
}

/* ---- Add -------------------------------------------------------------------------------------------------------- */

/* Evaluates without waiting for RTNL; the loop's monitor evaluates again later, after the barrier. The result counts as
 * delivered. It says nothing of flow and next hop: a call may have returned them before, and then a difference makes a
 * callback. Returns 0 or an errno. */
static int evaluate_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    const unsigned extras = extras_of(target);
    const struct outcome before = target->delivered;
    const bool had_failed = target->hop.delivered;
    struct path path;
    const int error = reach_shared_socket_evaluate(reach_netns_socket(target->netns), target->questions,
                                                   extras & ~(unsigned)QUERY_FLOW, &path);

    if (error != 0)
        return error;
    path.flow_unsettled = (extras & QUERY_FLOW) != 0; /* reading rules and links would wait for RTNL */
    reach_delivery_set_current_locked(schedule, &path);
    reach_delivery_set_delivered_locked(target);
    if (target->hop.state == HOP_RETURNED)
        target->hop.delivered = had_failed;
    if (path.flow_unsettled && !before.flow_unsettled) {
        target->delivered.flow = before.flow;
        target->delivered.flow_unsettled = false;
    }
    /* A name's first result brings a callback. That of localhost is here already. */
    if (target->kind == TARGET_NAME && target->lookups == NULL)
        reach_delivery_set_owed_locked(target);
    return 0;
}

/* A pending name that is bound to nothing, and of which no details are reported, has the default path. */
static bool can_follow_locked(const struct SCNetworkReachability *target)
{
    const struct question *question = &target->initial->items[0];

    return target->lookups != NULL && target->questions == target->initial &&
           reach_question_is_default_path(question) && question->family == AF_UNSPEC && target->details == NULL &&
           !target->notify_next_hop;
}

/* Adds a new schedule to its target, which has none. Returns 0 or a status; if it fails, nothing has changed. */
static int add_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    SCRunLoopRef loop = schedule->loop;
    const bool follows = can_follow_locked(target);
    int error = 0;

    counted_retain(&(schedule->watch.questions = target->questions)->counted);
    if (target->lookups != NULL)
        error = reach_network_service_join(loop, target->netns, &schedule->network_user, true);
    /* Watch first, then evaluate: no change in between is missed. */
    if (error == 0 && !follows)
        error = reach_monitor_watch(loop, target->netns, &schedule->watch);
    if (error == 0)
        error = evaluate_locked(schedule);
    if (error == 0 && target->notify_network)
        error = reach_network_join_locked(schedule);
    if (error == 0 && !reach_runloop_add_member(loop, &schedule->member))
        error = reach_error_invalid("runLoop: its thread has ended");
    if (error != 0) {
        leave_locked(schedule);
        return error;
    }
    target_retain(target);
    target->schedule = schedule;
    if (target->lookups != NULL)
        reach_name_start_lookups_locked(target);
    if (reach_delivery_is_due_locked(target))
        reach_delivery_queue_locked(schedule);
    return 0;
}

/* ---- Calls for run loops ---------------------------------------------------------------------------------------- */

static SCBoolean return_status(int error)
{
    if (error != 0)
        reach_error_set(error);
    return error == 0;
}

static int mode_index(SCRunLoopMode mode)
{
    return strcmp(mode, kSCRunLoopDefaultMode) == 0 ? MODE_DEFAULT : MODE_COMMON;
}

/* Returns false, and sets SCError(), if an argument is invalid. */
static bool check_arguments(SCNetworkReachabilityRef target, SCRunLoopRef loop, SCRunLoopMode mode,
                            struct SCNetworkReachability **ret)
{
    if (!target_check(target, ret) || !reach_runloop_check(loop))
        return false;
    return reach_runloop_mode_is_valid(mode) || return_status(reach_error_invalid(RUNLOOP_NO_MODE));
}

SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                   SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule *schedule, *added = NULL;
    int error = 0;

    if (!check_arguments(target, runLoop, runLoopMode, &self))
        return 0;
    target_lock(self);
    schedule = self->schedule;
    if (schedule == NULL) {
        schedule = added = reach_schedule_create(self, runLoop);
        error = added == NULL ? ENOMEM : add_locked(added);
    } else if (schedule->scheduler != NULL) {
        error = reach_error_invalid("target: on a scheduler, so not also on a run loop");
    } else if (schedule->loop != runLoop) {
        error = reach_error_invalid("target: on another run loop");
    }
    if (error == 0)
        schedule->times[mode_index(runLoopMode)]++;
    target_unlock(self);
    if (error != 0 && added != NULL)
        reach_schedule_release(added);
    return return_status(error);
}

SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                     SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule *schedule;
    bool removed = false;
    int error = 0;

    if (!check_arguments(target, runLoop, runLoopMode, &self))
        return 0;
    target_lock(self);
    schedule = self->schedule;
    if (schedule == NULL || schedule->loop != runLoop || schedule->times[mode_index(runLoopMode)] == 0)
        error = reach_error_invalid("target: not scheduled on this run loop in this mode");
    else
        removed = --schedule->times[mode_index(runLoopMode)] == 0 &&
                  schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON] == 0;
    if (removed)
        remove_locked(schedule);
    target_unlock(self);
    if (removed)
        release_removed(schedule);
    return return_status(error);
}

/* ---- Calls for schedulers --------------------------------------------------------------------------------------- */

static int schedule_on_scheduler(struct SCNetworkReachability *target, const SCNetworkReachabilityScheduler *scheduler)
{
    struct schedule *schedule;
    struct library_thread *thread;
    int error = reach_library_thread_acquire(&thread);

    if (error != 0)
        return error;
    schedule = reach_schedule_create(target, reach_library_thread_loop(thread));
    if (schedule == NULL) {
        reach_library_thread_release(thread);
        return ENOMEM;
    }
    schedule->thread = thread;
    schedule->scheduler = reach_scheduler_create(scheduler, reach_delivery_run_work, &schedule->member.counted);
    if (schedule->scheduler == NULL) {
        error = ENOMEM;
    } else if (target_is_inherited(target)) { /* a fork inside the retain hook */
        error = ECHILD;
    } else {
        target_lock(target);
        error = target->schedule == NULL ? add_locked(schedule) : reach_error_invalid("target: scheduled already");
        target_unlock(target);
    }
    if (error != 0)
        reach_schedule_release(schedule);
    return error;
}

static int unschedule_from_scheduler(struct SCNetworkReachability *target)
{
    struct schedule *schedule;

    target_lock(target);
    schedule = target->schedule;
    if (schedule != NULL && schedule->scheduler == NULL)
        schedule = NULL;
    if (schedule != NULL)
        remove_locked(schedule);
    target_unlock(target);
    if (schedule == NULL)
        return reach_error_invalid("target: on no scheduler");
    release_removed(schedule);
    return 0;
}

SCBoolean SCNetworkReachabilitySetScheduler(SCNetworkReachabilityRef target,
                                            const SCNetworkReachabilityScheduler *scheduler)
{
    struct SCNetworkReachability *self;

    if (!target_check(target, &self))
        return 0;
    if (scheduler == NULL)
        return return_status(unschedule_from_scheduler(self));
    if (scheduler->version != 0 || scheduler->perform == NULL)
        return return_status(
            reach_error_invalid(scheduler->version != 0 ? "scheduler->version: not 0" : "scheduler->perform: NULL"));
    return return_status(schedule_on_scheduler(self, scheduler));
}
#endif
