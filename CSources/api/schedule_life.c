/* SPDX-License-Identifier: MIT */
/*
 * The life of a schedule: it is created, added to its target, removed and released. Operations on all of a target.
 *
 * What this file must never do: run user code (a retain or release hook) with a lock held, or leave a schedule in a
 * monitor or in a queue after it left its target.
 */
#ifdef __linux__
#include "api/schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "api/delivery.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "route/shared_socket.h"

/* ---- Create ----------------------------------------------------------------------------------------------------- */

static void free_schedule(struct counted *counted)
{
    struct schedule *schedule = container_of(counted, struct schedule, member.counted);

    questions_release(schedule->watch.questions);
    SCRunLoopRelease(schedule->loop);
    counted_release(&schedule->target->memory);
    free(schedule);
}

static void end_schedule_of_member(struct member *member);
static void repeat_lookup_of_watch(struct name_watch *name_watch, bool changed);
static void set_default_path_of_watch(struct name_watch *name_watch, const struct path *path);

static struct counted *owner_of_watch(struct path_watch *watch)
{
    return &container_of(watch, struct schedule, watch)->member.counted;
}

static const struct path_watch_type watch_type = { .owner = owner_of_watch,
                                                   .prefetch = delivery_prefetch,
                                                   .accept = delivery_accept_path };
static const struct member_type member_type = { .run = delivery_run_job, .ended = end_schedule_of_member };
static const struct name_watch_type name_watch_type = { .due = repeat_lookup_of_watch,
                                                        .default_path = set_default_path_of_watch };
const struct schedule_parts schedule_no_parts = { 0 };

_Static_assert(_Alignof(struct schedule_parts) <= PART_ALIGNMENT && _Alignof(struct schedule_name) <= PART_ALIGNMENT &&
                   _Alignof(struct schedule_network) <= PART_ALIGNMENT,
               "each part is aligned");

/* The memory that follows a schedule. */
static struct schedule_parts *own_parts(struct schedule *schedule)
{
    return (void *)((char *)schedule + part_size(sizeof *schedule));
}

/* Fills the parts of a new schedule. */
static void fill_parts(struct schedule *schedule, size_t name_size, size_t network_size)
{
    struct schedule_parts *parts = own_parts(schedule);
    char *next = (char *)parts + part_size(sizeof *parts);

    parts->name = part_take(&next, name_size);
    parts->network = part_take(&next, network_size);
    if (parts->name != NULL)
        parts->name->watch = (struct name_watch){ .of.user.owner = &schedule->member.counted,
                                                  .type = &name_watch_type };
    if (parts->network != NULL)
        network_schedule_init(schedule, parts->network);
}

/* What the target reports besides flags and interface. */
static unsigned extras_of(const struct target_parts *parts)
{
    return (parts->details != NULL ? QUERY_SOURCE | QUERY_FLOW : 0) | (parts->reports_flow ? QUERY_FLOW : 0) |
           (parts->hop != NULL ? QUERY_NEXT_HOP : 0);
}

/* With NotifyPath, a target reports more of its path than others share; with NotifyNextHop too. */
static bool can_share(const struct target_parts *parts)
{
    struct question_group group;

    if (parts->initial == NULL)
        return true;
    return parts->details == NULL && parts->hop == NULL && parts->lookups == NULL && parts->initial->count == 1 &&
           question_find_group(&parts->initial->items[0], &group);
}

struct schedule *schedule_create(struct SCNetworkReachability *target, SCRunLoopRef loop, bool has_scheduler)
{
    struct target_state *state = target_state(target);
    const size_t name_size = state_parts(state)->lookups != NULL ? sizeof(struct schedule_name) : 0;
    const size_t network_size = state_parts(state)->network != NULL ? sizeof(struct schedule_network) : 0;
    const bool has_parts = name_size + network_size > 0 || has_scheduler || state->schedules != NULL;
    const size_t parts_size = has_parts ? sizeof(struct schedule_parts) : 0;
    struct schedule *schedule = calloc(1, part_size(sizeof *schedule) + part_size(parts_size) + part_size(name_size) +
                                              part_size(network_size));

    if (schedule == NULL)
        return NULL;
    counted_init(&schedule->member.counted, free_schedule);
    member_init(&schedule->member, &member_type);
    counted_retain(&target->memory);
    schedule->target = target;
    schedule->state = state;
    schedule->loop = SCRunLoopRetain(loop);
    schedule->watch = (struct path_watch){ .type = &watch_type,
                                           .extras = (uint8_t)(QUERY_EXPIRY | extras_of(state_parts(state))),
                                           .can_share = can_share(state_parts(state)),
                                           .has_parts = has_parts,
                                           .key.address.address = target->address };
    if (has_parts)
        fill_parts(schedule, name_size, network_size);
    return schedule;
}

bool schedule_set_scheduler(struct schedule *schedule, const SCNetworkReachabilityScheduler *scheduler,
                            struct library_thread_user *user)
{
    struct schedule_parts *parts = own_parts(schedule);

    parts->thread_user = user;
    parts->work = scheduler_work_create(scheduler, delivery_run_work, &schedule->member.counted);
    return parts->work != NULL;
}

/* ---- Add -------------------------------------------------------------------------------------------------------- */

/* Whether a loop's monitor may find other flags, as it also reads the other ends of tunnels. */
static bool is_provisional(const struct path *path)
{
    return path->dependencies.unknown_link != 0 || path->wireguard;
}

/* The result of the first schedule counts as delivered. It says nothing of flow and next hop: a call may have returned
 * them before, and then a difference makes a callback. */
static void begin_delivered_locked(struct schedule *schedule, const struct path *path)
{
    struct target_state *state = schedule->state;
    const struct outcome before = state->delivered;
    struct target_hop *hop = state_parts(state)->hop;
    const bool had_failed = hop != NULL && hop->delivered;

    delivery_set_current_locked(schedule, path);
    delivery_set_delivered_locked(schedule->target);
    if (hop != NULL && hop->returned)
        hop->delivered = had_failed;
    if (path->flow_unsettled && !before.flow_unsettled) {
        state->delivered.flow = before.flow;
        state->delivered.flow_unsettled = false;
    }
}

/* Evaluates without waiting for RTNL. The loop's monitor evaluates again later, after the barrier. Returns 0 or an
 * errno. */
static int evaluate_new_schedule_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    const struct target_state *state = target->state;
    struct question_memory memory;
    struct path path;
    const unsigned extras = extras_of(state_parts(state));
    const int error = shared_socket_evaluate(netns_socket(target->netns),
                                             path_watch_questions(&schedule->watch, &memory),
                                             extras & ~(unsigned)QUERY_FLOW, &path);

    if (error != 0)
        return error;
    atomic_store(&schedule->watch.outdated, true);
    path.flow_unsettled = (extras & QUERY_FLOW) != 0; /* reading rules and links would wait for RTNL */
    if (state->schedules == NULL) {
        begin_delivered_locked(schedule, &path);
        /* A name's first result brings a callback. That of localhost is here already. */
        if (target->kind == TARGET_NAME && state_parts(state)->lookups == NULL)
            delivery_set_owed_locked(target);
        return 0;
    }
    delivery_set_current_locked(schedule, &path);
    if (is_provisional(&path))
        schedule_set_questions_locked(target); /* the other loops evaluate again, too: one may have known more */
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

/* The target will be on two loops, which may evaluate its path at different times. Returns 0 or ENOMEM. */
static int isolate_schedules_locked(struct schedule *added)
{
    int error = schedule_watch_own_paths_locked(added->target);

    for (struct schedule *other = added->target->state->schedules; other != NULL; other = schedule_next(other)) {
        added->watch.can_share = false;
        if (error == 0)
            error = monitor_isolate(other->loop, &other->watch);
    }
    return error;
}

static void leave_name_monitor(struct schedule *schedule)
{
    if (schedule_parts(schedule)->name != NULL)
        network_service_leave(schedule->loop, &schedule_parts(schedule)->name->watch.of);
}

/* Removes a schedule from the target's. */
static void unlink_schedule(struct target_state *state, const struct schedule *schedule)
{
    struct schedule **place = &state->schedules;

    while (*place != schedule)
        place = &own_parts(*place)->next;
    *place = schedule_next(schedule);
}

/* Whether the path of the target is the default path, and of the default path it reports no details. */
static bool can_follow_locked(const struct target_state *state)
{
    const struct questions *initial = state_parts(state)->initial;

    return state_parts(state)->lookups != NULL && state_parts(state)->lookups->questions == initial &&
           question_is_default_path(&initial->items[0]) && initial->items[0].family == AF_UNSPEC &&
           state_parts(state)->details == NULL && state_parts(state)->hop == NULL && state->schedules == NULL;
}

static int watch_or_follow_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    if (!can_follow_locked(target->state))
        return monitor_watch(schedule->loop, target->netns, &schedule->watch);
    network_service_follow(schedule->loop, &schedule_parts(schedule)->name->watch);
    return 0;
}

int schedule_add_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    struct target_state *state = target->state;
    SCRunLoopRef loop = schedule->loop;
    int error = isolate_schedules_locked(schedule);

    schedule->watch.active = true;
    if (error == 0 && schedule_parts(schedule)->name != NULL)
        error = network_service_join_name(loop, target->netns, &schedule_parts(schedule)->name->watch);
    schedule->watch.questions = state_questions_locked(state);
    if (schedule->watch.questions != NULL)
        counted_retain(&schedule->watch.questions->counted);
    /* Watch first, then evaluate: no change in between is missed. */
    if (error == 0)
        error = watch_or_follow_locked(schedule);
    if (error == 0)
        error = evaluate_new_schedule_locked(schedule);
    if (error == 0 && schedule_parts(schedule)->network != NULL)
        error = network_join_locked(schedule);
    if (error == 0 && !add_to_loop(schedule))
        error = error_invalid("runLoop: its thread has ended");
    if (error != 0) {
        schedule->watch.active = false;
        leave_name_monitor(schedule);
        network_leave_locked(schedule);
        network_forget_locked(target);
        monitor_unwatch(loop, &schedule->watch);
        if (state->schedules == NULL)
            atomic_store_explicit(&target->published, 0, memory_order_release);
        return error;
    }
    target_retain(target);
    if (state->schedules != NULL)
        own_parts(schedule)->next = state->schedules;
    state->schedules = schedule;
    if (schedule_parts(schedule)->name != NULL && schedule_next(schedule) == NULL)
        name_start_lookups_locked(target);
    else if (schedule_parts(schedule)->name != NULL)
        network_service_set_deadline(loop, &schedule_parts(schedule)->name->watch, state_parts(state)->lookups->next);
    if (delivery_is_due_locked(target))
        delivery_queue_locked(schedule);
    return 0;
}

/* ---- Remove ----------------------------------------------------------------------------------------------------- */

/* The next schedule begins anew. */
static void end_delivered_locked(struct SCNetworkReachability *target)
{
    struct target_state *state = target->state;

    state->delivered.flow_unsettled = true;
    if (state_parts(state)->hop != NULL)
        *state_parts(state)->hop = (struct target_hop){ 0 };
    atomic_store_explicit(&target->published, 0, memory_order_release);
}

void schedule_remove_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    struct target_state *state = target->state;
    bool was_queued;

    schedule->watch.active = false;
    state->change_queued = false; /* it may be queued on this loop: then another loop must queue it */
    leave_name_monitor(schedule);
    network_leave_locked(schedule);
    monitor_unwatch(schedule->loop, &schedule->watch);
    runloop_lock(schedule->loop);
    was_queued = runloop_cancel_locked(schedule->loop, &schedule->member);
    runloop_remove_member_locked(schedule->loop, &schedule->member);
    runloop_unlock(schedule->loop);
    if (was_queued)
        counted_release(&schedule->member.counted); /* never the last reference: the target holds one */
    unlink_schedule(state, schedule);
    network_forget_locked(target);
    if (schedule_parts(schedule)->name != NULL && state->schedules == NULL)
        name_stop_lookups_locked(target);
    if (state->schedules == NULL)
        end_delivered_locked(target);
    else if (delivery_is_due_locked(target) && !state->is_delivering)
        delivery_queue_everywhere_locked(target);
}

void schedule_release(struct schedule *schedule)
{
    if (schedule_parts(schedule)->work != NULL)
        scheduler_work_end(schedule_parts(schedule)->work);
    if (schedule_parts(schedule)->thread_user != NULL)
        library_thread_release(schedule_parts(schedule)->thread_user);
    counted_release(&schedule->member.counted);
}

void schedule_release_removed(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;

    schedule_release(schedule);
    target_release(target);
}

/* The loop's thread has ended. Consumes a reference. */
static void end_schedule_of_member(struct member *member)
{
    struct schedule *schedule = container_of(member, struct schedule, member);
    struct SCNetworkReachability *target = schedule->target;
    bool was_active;

    target_lock(target);
    was_active = schedule->watch.active;
    if (was_active)
        schedule_remove_locked(schedule);
    target_unlock(target);
    if (was_active)
        schedule_release_removed(schedule);
    counted_release(&schedule->member.counted);
}

static struct schedule *schedule_of_watch(struct name_watch *name_watch)
{
    return container_of(name_watch->of.user.owner, struct schedule, member.counted);
}

static void repeat_lookup_of_watch(struct name_watch *name_watch, bool changed)
{
    struct schedule *schedule = schedule_of_watch(name_watch);

    target_lock(schedule->target);
    if (schedule->watch.active)
        name_repeat_lookup_locked(schedule->target, changed);
    target_unlock(schedule->target);
}

static void set_default_path_of_watch(struct name_watch *name_watch, const struct path *path)
{
    delivery_follow_path(schedule_of_watch(name_watch), path);
}

/* ---- Find ------------------------------------------------------------------------------------------------------- */

struct schedule *schedule_find_locked(const struct SCNetworkReachability *target, SCRunLoopRef loop)
{
    struct schedule *schedule = target->state->schedules;

    while (schedule != NULL && schedule->loop != loop)
        schedule = schedule_next(schedule);
    return schedule;
}

struct schedule *schedule_find_scheduler_locked(const struct SCNetworkReachability *target)
{
    struct schedule *first = target->state->schedules;

    return first != NULL && schedule_parts(first)->work != NULL ? first : NULL;
}

/* ---- All schedules of a target ---------------------------------------------------------------------------------- */

void schedule_set_questions_locked(struct SCNetworkReachability *target)
{
    for (struct schedule *schedule = target->state->schedules; schedule != NULL; schedule = schedule_next(schedule))
        monitor_set_questions(schedule->loop, &schedule->watch, state_questions_locked(target->state));
}

int schedule_watch_own_paths_locked(struct SCNetworkReachability *target)
{
    int error = 0;

    for (struct schedule *schedule = target->state->schedules; schedule != NULL && error == 0;
         schedule = schedule_next(schedule)) {
        if (schedule->watch.monitor != NULL)
            continue;
        error = monitor_watch(schedule->loop, target->netns, &schedule->watch);
        if (error == 0)
            network_service_stop_following(schedule->loop, &schedule_parts(schedule)->name->watch);
    }
    return error;
}

void schedule_set_lookup_deadline_locked(struct SCNetworkReachability *target)
{
    const struct target_state *state = target->state;

    for (struct schedule *schedule = state->schedules; schedule != NULL; schedule = schedule_next(schedule))
        network_service_set_deadline(schedule->loop, &schedule_parts(schedule)->name->watch,
                                     state_parts(state)->lookups->next);
}

struct schedule_summary schedule_summarize_locked(struct SCNetworkReachability *target)
{
    struct schedule_summary summary = { 0 };

    for (const struct schedule *schedule = target->state->schedules; schedule != NULL;
         schedule = schedule_next(schedule)) {
        const struct monitor_counters counters = monitor_count(schedule->loop, &schedule->watch);

        summary.loops++;
        summary.on_scheduler = schedule_parts(schedule)->work != NULL;
        summary.times += schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON];
        summary.counters.overruns += counters.overruns;
        summary.counters.queries += counters.queries;
    }
    return summary;
}
#endif
