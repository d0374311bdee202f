/* SPDX-License-Identifier: MIT */
#include "api/schedule.h"

void schedule_put_questions_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        monitor_set_questions(schedule->loop, &schedule->watch, target->questions);
    }
}

void schedule_set_deadline_locked(struct SCNetworkReachability *target)
{
    list_for_each(node, &target->schedules) {
        struct schedule *schedule = container_of(node, struct schedule, node);

        name_monitor_set_deadline(schedule->loop, &schedule->name_watch, target->look_again_at);
    }
}

struct schedule_summary schedule_summarize(struct SCNetworkReachability *target)
{
    struct schedule_summary summary = { 0 };

    pthread_mutex_lock(&target->lock);
    list_for_each(node, &target->schedules) {
        const struct schedule        *schedule = container_of(node, struct schedule, node);
        const struct monitor_counters counters = monitor_count(schedule->loop, &schedule->watch);

        summary.loops++;
        summary.handed = schedule->work != NULL;
        summary.times += schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON];
        summary.counters.overruns += counters.overruns;
        summary.counters.queries += counters.queries;
    }
    pthread_mutex_unlock(&target->lock);
    return summary;
}
