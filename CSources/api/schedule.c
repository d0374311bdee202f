/* SPDX-License-Identifier: MIT */
/* Operations on all schedules of a target, and a summary of them. */
#include "api/schedule.h"

void schedule_set_questions_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        monitor_set_questions(schedule->loop, &schedule->watch, target->questions);
    }
}

void schedule_set_lookup_deadline_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        name_monitor_set_deadline(schedule->loop, &schedule->name->watch, target->lookups->next);
    }
}

struct schedule_summary schedule_summarize_locked(struct SCNetworkReachability *target)
{
    struct schedule_summary summary = { 0 };

    list_for_each(node, &target->schedules) {
        const struct schedule        *schedule = container_of(node, struct schedule, node);
        const struct monitor_counters counters = monitor_count(schedule->loop, &schedule->watch);

        summary.loops++;
        summary.on_scheduler = schedule->work != NULL;
        summary.times += schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON];
        summary.counters.overruns += counters.overruns;
        summary.counters.queries += counters.queries;
    }
    return summary;
}
