/* SPDX-License-Identifier: MIT */
/* Operations on all schedules of a target, and a summary of them. */
#include "api/schedule.h"

void schedule_set_questions_locked(struct SCNetworkReachability *target)
{
    for (struct schedule *schedule = target->state->schedules; schedule != NULL; schedule = schedule->next)
        monitor_set_questions(schedule->loop, &schedule->watch, state_questions_locked(target->state));
}

int schedule_watch_own_paths_locked(struct SCNetworkReachability *target)
{
    int error = 0;

    for (struct schedule *schedule = target->state->schedules; schedule != NULL && error == 0;
         schedule = schedule->next) {
        if (schedule->watch.monitor != NULL)
            continue;
        error = monitor_watch(schedule->loop, target->netns, &schedule->watch);
        if (error == 0)
            name_monitor_stop_following(schedule->loop, &schedule->parts->name->watch);
    }
    return error;
}

void schedule_set_lookup_deadline_locked(struct SCNetworkReachability *target)
{
    const struct target_state *state = target->state;

    for (struct schedule *schedule = state->schedules; schedule != NULL; schedule = schedule->next)
        name_monitor_set_deadline(schedule->loop, &schedule->parts->name->watch, state->parts->lookups->next);
}

struct schedule_summary schedule_summarize_locked(struct SCNetworkReachability *target)
{
    struct schedule_summary summary = { 0 };

    for (const struct schedule *schedule = target->state->schedules; schedule != NULL; schedule = schedule->next) {
        const struct monitor_counters counters = monitor_count(schedule->loop, &schedule->watch);

        summary.loops++;
        summary.on_scheduler = schedule->parts->work != NULL;
        summary.times += schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON];
        summary.counters.overruns += counters.overruns;
        summary.counters.queries += counters.queries;
    }
    return summary;
}
