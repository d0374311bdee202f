/* SPDX-License-Identifier: MIT */
/*
 * The calls that schedule and unschedule a target, on run loops and with schedulers.
 *
 * What this file must never do: run user code (a retain or release hook) with a lock held.
 */
#ifdef __linux__
#include <errno.h>
#include <string.h>

#include "api/schedule.h"
#include "base/error.h"

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
    struct schedule *schedule = schedule_find_locked(target, loop);
    int error = 0;

    *ret_added = NULL;
    if (schedule_find_scheduler_locked(target) != NULL)
        return error_invalid("target: on a scheduler, so not also on a run loop");
    if (schedule == NULL) {
        schedule = *ret_added = schedule_create(target, loop, false);
        error = schedule == NULL ? ENOMEM : schedule_add_locked(schedule);
    }
    if (error == 0)
        schedule->times[mode_index(mode)]++;
    return error;
}

SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                   SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule *added;
    int error;

    if (!target_check(target, &self))
        return 0;
    error = loop_and_mode_status(runLoop, runLoopMode);
    if (error == 0 && target_require_state(self) == NULL)
        error = ENOMEM;
    if (error != 0)
        return return_status(error);
    target_lock(self);
    error = schedule_on_loop_locked(self, runLoop, runLoopMode, &added);
    target_unlock(self);
    if (error != 0 && added != NULL)
        schedule_release(added);
    return return_status(error);
}

#define NOT_SCHEDULED "target: not scheduled on this run loop in this mode"

/* Returns 0 or a status. Sets *ret_removed if the schedule was removed; the caller releases it without the lock. */
static int unschedule_from_loop_locked(struct SCNetworkReachability *target, SCRunLoopRef loop, SCRunLoopMode mode,
                                       struct schedule **ret_removed)
{
    struct schedule *schedule = schedule_find_locked(target, loop);

    if (schedule == NULL || schedule->times[mode_index(mode)] == 0)
        return error_invalid(NOT_SCHEDULED);
    schedule->times[mode_index(mode)]--;
    if (schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON] == 0) {
        schedule_remove_locked(schedule);
        *ret_removed = schedule;
    }
    return 0;
}

SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                     SCRunLoopMode runLoopMode)
{
    struct SCNetworkReachability *self;
    struct schedule *removed = NULL;
    int error;

    if (!target_check(target, &self))
        return 0;
    error = loop_and_mode_status(runLoop, runLoopMode);
    if (error == 0 && target_state(self) == NULL)
        error = error_invalid(NOT_SCHEDULED);
    if (error != 0)
        return return_status(error);
    target_lock(self);
    error = unschedule_from_loop_locked(self, runLoop, runLoopMode, &removed);
    target_unlock(self);
    if (removed != NULL)
        schedule_release_removed(removed);
    return return_status(error);
}

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

#define NO_SCHEDULER      "target: on no scheduler"
#define ALREADY_SCHEDULED "target: scheduled already"

static bool is_scheduled(struct SCNetworkReachability *target)
{
    bool scheduled;

    target_lock(target);
    scheduled = target->state->schedules != NULL;
    target_unlock(target);
    return scheduled;
}

static int schedule_on_scheduler(struct SCNetworkReachability *target, const SCNetworkReachabilityScheduler *scheduler)
{
    struct schedule *schedule;
    struct library_thread_user *user;
    int error;

    if (target_require_state(target) == NULL)
        return ENOMEM;
    if (is_scheduled(target))
        return error_invalid(ALREADY_SCHEDULED);
    error = library_thread_acquire(netns_handle(target->netns), &user);
    if (error != 0)
        return error;
    schedule = schedule_create(target, library_thread_loop(user), true);
    if (schedule == NULL) {
        library_thread_release(user);
        return ENOMEM;
    }
    if (!schedule_set_scheduler(schedule, scheduler, user)) {
        error = ENOMEM;
    } else if (target_is_inherited(target)) { /* a fork inside the retain hook */
        error = ECHILD;
    } else {
        target_lock(target);
        error = target->state->schedules == NULL ? schedule_add_locked(schedule) : error_invalid(ALREADY_SCHEDULED);
        target_unlock(target);
    }
    if (error != 0)
        schedule_release(schedule);
    return error;
}

static int unschedule_from_scheduler(struct SCNetworkReachability *target)
{
    struct schedule *schedule;

    if (target_state(target) == NULL)
        return error_invalid(NO_SCHEDULER);
    target_lock(target);
    schedule = schedule_find_scheduler_locked(target);
    if (schedule != NULL)
        schedule_remove_locked(schedule);
    target_unlock(target);
    if (schedule == NULL)
        return error_invalid(NO_SCHEDULER);
    schedule_release_removed(schedule);
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
            error_invalid(scheduler->version != 0 ? "scheduler->version: not 0" : "scheduler->perform: NULL"));
    return return_status(schedule_on_scheduler(self, scheduler));
}
#endif
