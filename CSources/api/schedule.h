/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SCHEDULE_H
#define REACHABILITY_SCHEDULE_H

/* A schedule (one target on one loop), and operations on all schedules of a target: schedule_life.c has them.
 * delivery.c makes the callbacks. */

#include "api/scheduler_work.h"
#include "api/target.h"
#include "loop/library_thread.h"
#include "names/network_service.h"

enum { MODE_DEFAULT, MODE_COMMON, MODES };

/*
 * References: the target's list holds one, and so does the loop's queue in which the member is. A schedule holds the
 * target's memory and the loop; an active one also holds the target.
 */
struct schedule {
    struct member member; /* of the loop; its job delivers. Its count is that of the schedule */
    struct SCNetworkReachability *target;
    struct target_state *state; /* the target's: to read it from the target would mean to wait for memory */
    SCRunLoopRef loop;          /* with a scheduler: the library thread's */
    unsigned times[MODES];      /* how often a user scheduled it; under the target's lock */
    /* In the loop's monitor; not if it follows the default path. Under the target's lock, `active`: the schedule is one
     * of the target's; false for good after that. `has_job`: the job is queued, or has not decided yet; otherwise the
     * member can be queued as a change. `has_parts` is constant. */
    struct path_watch watch;
};

/* What only some schedules have. In the memory that follows the schedule. */
struct schedule_parts {
    struct schedule *next;                   /* of the target's schedules, under its lock; NULL: the last */
    struct scheduler_work *work;             /* NULL: no scheduler, callbacks come on the loop */
    struct library_thread_user *thread_user; /* NULL: no scheduler */
    struct schedule_name *name;              /* NULL: the target needs no look-ups */
    struct schedule_network *network;        /* NULL: the target does not report the network */
};

extern const struct schedule_parts schedule_no_parts;

static inline const struct schedule_parts *schedule_parts(const struct schedule *schedule)
{
    return schedule->watch.has_parts ? part_after(schedule, sizeof *schedule) : &schedule_no_parts;
}

/* The next schedule of the target, under its lock. A target's only schedule may have no room for it: those that are
 * added later are before it in the list. */
static inline struct schedule *schedule_next(const struct schedule *schedule)
{
    return schedule_parts(schedule)->next;
}

struct schedule_name {
    struct name_watch watch; /* in the loop's name monitor */
};

struct schedule_network {
    struct schedule *schedule;
    struct network_watch watch; /* in the loop's network monitor */
};

/* ---- The life of a schedule. The target has a state. */

/* Under the target's lock, unless `has_scheduler`: the caller then calls schedule_set_scheduler. Returns NULL if there
 * is no memory. */
struct schedule *schedule_create(struct SCNetworkReachability *target, SCRunLoopRef loop, bool has_scheduler);

/* Gives a new schedule its scheduler, and the user of the library thread. Runs the scheduler's retain hook. False: no
 * memory. */
bool schedule_set_scheduler(struct schedule *schedule, const SCNetworkReachabilityScheduler *scheduler,
                            struct library_thread_user *user);

/* Adds a new schedule to its target. Returns 0 or a status; if it fails, nothing has changed. */
int schedule_add_locked(struct schedule *schedule);

/* Removes it. The caller then calls schedule_release_removed, without the lock. */
void schedule_remove_locked(struct schedule *schedule);

/* Releases a schedule that is not its target's. Runs the scheduler's release hook. */
void schedule_release(struct schedule *schedule);

/* Releases a removed schedule, and its reference to the target. If that was the last one, runs the user's hooks. */
void schedule_release_removed(struct schedule *schedule);

/* Returns the target's schedule on a loop; NULL: there is none. */
struct schedule *schedule_find_locked(const struct SCNetworkReachability *target, SCRunLoopRef loop);

/* Returns the schedule with a scheduler. It is the only one then. NULL: the target is on no scheduler. */
struct schedule *schedule_find_scheduler_locked(const struct SCNetworkReachability *target);

/* ---- All schedules of a target */

/* Gives the target's questions to every monitor that watches the target. */
void schedule_set_questions_locked(struct SCNetworkReachability *target);

/* Each monitor evaluates the path of the target itself from now on: see network_service_follow. Returns 0 or an errno.
 */
int schedule_watch_own_paths_locked(struct SCNetworkReachability *target);

/* For a target that needs look-ups: sets the time of the next as the deadline in every name monitor. Then
 * name_repeat_lookup_locked is due. */
void schedule_set_lookup_deadline_locked(struct SCNetworkReachability *target);

/* Numbers for GetDescription. */
struct schedule_summary {
    unsigned loops, times;
    bool on_scheduler;
    struct monitor_counters counters; /* sums over the monitors */
};
struct schedule_summary schedule_summarize_locked(struct SCNetworkReachability *target);

/* ---- name.c: when the name of a target is looked up, and what the result changes --------------------------------- */

/* Looks the name up from now on: the target has its first schedule. */
void name_start_lookups_locked(struct SCNetworkReachability *target);

/* Stops the look-ups: the target has lost its last schedule. Ignores a late result, and forgets the addresses. */
void name_stop_lookups_locked(struct SCNetworkReachability *target);

/* Looks the name up again. `changed`: because a result may differ now, not because time has passed. */
void name_repeat_lookup_locked(struct SCNetworkReachability *target, bool changed);

/* ---- network.c: the network paths of targets with notify_network ------------------------------------------------- */

void network_schedule_init(struct schedule *schedule, struct schedule_network *network);

/* Begins to watch. Returns 0 or an errno. */
int network_join_locked(struct schedule *schedule);

/* Ends it. Does nothing if the schedule does not watch. */
void network_leave_locked(struct schedule *schedule);

/* Called after a schedule was removed from its target, or was not added. Does nothing for other targets. */
void network_forget_locked(struct SCNetworkReachability *target);

#endif
