/* SPDX-License-Identifier: MIT */
/*
 * The steps of a round: how one begins and ends, and the queries that several send together.
 *
 * What this file must never do: let a step begin while the filter can drop messages that affect its answer.
 */
#include "route/step.h"

#include "base/counted.h"
#include "route/monitor_state.h"
#include "route/watch_steps.h"

#define BATCH_MINIMUM 8 /* queries that are sent together */

/* ---- Begin and end ---------------------------------------------------------------------------------------------- */

/* Lets all messages pass that affect a watch. Replies from before that may be outdated: their messages were dropped. So
 * were those about changes that the kernel has not finished. */
static void open_filter_locked(struct monitor *monitor)
{
    if (monitor_filter_passes_all(monitor))
        return;
    rtnetlink_end_batch(&monitor->rtnetlink);
    rtnetlink_set_barrier(&monitor->rtnetlink);
    round_cache_begin_slice(&monitor->cache);
    if (event_filter_detach(&monitor->filter, &monitor->rtnetlink.events, &monitor->gateways) != 0)
        plan_begin_polling(&monitor->plan);
}

/* Loads what the steps use of each owner. A million owners do not fit in the processor's caches, and waiting for one
 * after the other would take most of the time. */
static void prefetch_owners(const struct step_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->watches[i]->type->prefetch != NULL)
            group->watches[i]->type->prefetch(group->watches[i]);
}

static struct counted *owner_of(struct path_watch *watch)
{
    return watch->type->owner(watch);
}

static size_t begin_group_locked(struct monitor *monitor, size_t limit, struct step *ret)
{
    struct step_group *group = &ret->group;

    group->count = watch_steps_begin_group(&monitor->watches, group->watches,
                                           limit < STEP_GROUP_LIMIT ? limit : STEP_GROUP_LIMIT);
    if (group->count == 0)
        return 0;
    ret->answer = monitor->watches.current;
    prefetch_owners(group);
    for (size_t i = 0; i < group->count; i++) {
        counted_retain(owner_of(group->watches[i]));
        group->path_versions[i] = atomic_load(group->watches[i]->path_version);
    }
    return group->count;
}

static size_t begin_one_locked(struct monitor *monitor, struct step *ret)
{
    struct path_watch *watch = watch_steps_begin(&monitor->watches, &ret->applies);

    if (watch == NULL)
        return 0;
    ret->watch = watch;
    ret->path_version = atomic_load(watch->path_version); /* first: see replace_questions_locked in api/name.c */
    ret->answer = watch->answer;
    ret->questions = path_watch_questions(watch, &ret->memory);
    ret->can_share = watch->can_share;
    ret->must_check = watch->answer->is_shared && answer_shared(watch->answer)->must_check;
    counted_retain(&ret->questions->counted);
    counted_retain(owner_of(watch));
    return 1;
}

size_t step_begin(struct monitor *monitor, size_t limit, struct step *ret)
{
    size_t count;

    runloop_lock(monitor->loop);
    open_filter_locked(monitor);
    count = begin_group_locked(monitor, limit, ret);
    if (count == 0)
        count = begin_one_locked(monitor, ret);
    runloop_unlock(monitor->loop);
    return count;
}

static void release_step(const struct step *step)
{
    const struct step_group *group = &step->group;

    for (size_t i = 0; i < group->count; i++)
        counted_release(owner_of(group->watches[i]));
    if (group->count == 0) {
        questions_release(step->questions);
        counted_release(owner_of(step->watch));
    }
}

void step_end(struct monitor *monitor, const struct step *step, int error)
{
    const struct step_group *group = &step->group;

    runloop_lock(monitor->loop);
    if (error != 0) {
        monitor->round.failed = true;
        watch_steps_note_failure(&monitor->watches, step->answer);
    }
    for (size_t i = 0; i < group->count; i++)
        if (!group->accepted[i] && step_has_answer(group->watches[i], step->answer))
            watch_steps_postpone(&monitor->watches, group->watches[i]);
    watch_steps_end(&monitor->watches);
    runloop_unlock(monitor->loop);
    release_step(step);
}

/* ---- Batches ---------------------------------------------------------------------------------------------------- */

/* Whether the first query of the watch is that of its extent, unless a first look finds source-specific routes. */
static bool asks_for_extent(const struct monitor *monitor, const struct path_watch *watch)
{
    return watch->can_share && monitor_shares(monitor) &&
           extent_needs_query(&monitor->rtnetlink, path_watch_destination(watch).family);
}

void step_begin_batch(struct monitor *monitor, size_t limit)
{
    const struct path_watch *watches[QUERY_BATCH_LIMIT];
    struct route_request     requests[QUERY_BATCH_LIMIT];
    size_t                   count;

    if (!monitor_can_query(monitor))
        return;
    runloop_lock(monitor->loop);
    open_filter_locked(monitor);
    count = watch_steps_peek(&monitor->watches, watches, limit < QUERY_BATCH_LIMIT ? limit : QUERY_BATCH_LIMIT);
    for (size_t i = 0; i < count; i++)
        requests[i] = (struct route_request){ .destination = path_watch_destination(watches[i]),
                                              .fib_match = asks_for_extent(monitor, watches[i]) };
    runloop_unlock(monitor->loop);
    if (count >= BATCH_MINIMUM)
        rtnetlink_begin_batch(&monitor->rtnetlink, requests, count);
}
