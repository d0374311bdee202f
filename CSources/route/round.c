/* SPDX-License-Identifier: MIT */
/*
 * The rounds of a monitor: what is stale when one begins, its slices, and what follows.
 *
 * What this file must never do: evaluate without the barrier.
 */
#include "route/round.h"

#include "base/clock.h"
#include "base/list.h"
#include "route/answer_update.h"
#include "route/monitor_state.h"
#include "route/step.h"
#include "route/watch_steps.h"

/* In a round with many stale answers, each run evaluates a slice of them. Between two slices the loop makes callbacks
 * and reads new messages. The first slices are small, so that the first callback comes soon. */
#define SLICE_FIRST 16
#define SLICE_LAST  256

/* ---- Begin ------------------------------------------------------------------------------------------------------ */

static void mark_stale_locked(struct monitor *monitor, enum stale stale)
{
    if (stale < STALE_ALL)
        return;
    watch_set_mark_all(&monitor->watches, stale == STALE_CHECK);
    gateways_age(&monitor->gateways, 0);
}

/* The kernel has finished the changes by now. */
static void mark_unfinished_stale_locked(struct monitor *monitor)
{
    mark_stale_locked(monitor, monitor->recheck);
    watch_set_mark_unfinished(&monitor->watches);
    monitor->recheck = STALE_NONE;
    monitor->plan.recheck = NEVER;
}

/* Marks the answers stale whose time has come. */
static void mark_due_stale_locked(struct monitor *monitor)
{
    const struct plan *plan = &monitor->plan;
    const int64_t      now = monitor->round.began;

    if (plan->poll <= now)
        mark_stale_locked(monitor, STALE_CHECK);
    if (plan->recheck <= now)
        mark_unfinished_stale_locked(monitor);
    if (plan->reread <= now)
        watch_set_mark_lifetimes(&monitor->watches, false);
    watch_set_mark_ended(&monitor->watches, now);
}

static void begin_round(struct monitor *monitor, const struct changes *changes)
{
    struct round *round = &monitor->round;
    bool          pppd;

    *round = (struct round){ .active = true,
                             .began = clock_now(),
                             .slice = SLICE_FIRST,
                             .failed = changes->failed,
                             .unfinished = stale_add(round->next_unfinished, changes->unfinished),
                             .reread = changes->prefix };
    pppd = round_cache_begin(&monitor->cache);
    runloop_lock(monitor->loop);
    mark_stale_locked(monitor, changes->stale);
    if (pppd)
        watch_set_mark_pppd(&monitor->watches);
    mark_due_stale_locked(monitor);
    watch_set_mark_changed_links(&monitor->watches); /* last: their second evaluation comes after this one */
    watch_steps_begin_round(&monitor->watches);
    runloop_unlock(monitor->loop);
}

/* Notes what has changed during a round. All answers are marked stale only once, at its end, and those that depend on
 * links when the next one begins. Otherwise, in a storm of messages about links, each slice would mark them. */
static void keep_for_next_round(struct round *round, const struct changes *changes)
{
    round->failed = round->failed || changes->failed;
    round->next_stale = stale_add(round->next_stale, changes->stale);
    round->next_unfinished = stale_add(round->next_unfinished, changes->unfinished);
    round->next_is_due = round->next_is_due || changes->stale != STALE_NONE || changes->prefix;
}

void round_note_changes(struct monitor *monitor, const struct changes *changes)
{
    if (monitor->round.active)
        keep_for_next_round(&monitor->round, changes);
    else
        begin_round(monitor, changes);
}

/* Runs steps of the round, at most `limit`. Returns whether others may be left. */
static bool run_batch(struct monitor *monitor, size_t limit)
{
    struct step step;
    size_t      begun = 1;

    step_begin_batch(monitor, limit);
    for (size_t done = 0; begun > 0 && done < limit; done += begun) {
        begun = step_begin(monitor, limit - done, &step);
        if (begun > 0)
            step_end(monitor, &step, answer_update(monitor, &step));
    }
    return begun > 0;
}

/* The same for a slice of the round. */
static bool run_slice(struct monitor *monitor)
{
    struct round *round = &monitor->round;
    bool          more = true;

    rtnetlink_set_barrier(&monitor->rtnetlink);
    round_cache_begin_slice(&monitor->cache);
    for (size_t done = 0; more && done < round->slice; done += QUERY_BATCH_LIMIT)
        more = run_batch(monitor, round->slice - done < QUERY_BATCH_LIMIT ? round->slice - done : QUERY_BATCH_LIMIT);
    rtnetlink_end_batch(&monitor->rtnetlink);
    if (round->slice < SLICE_LAST)
        round->slice *= 2;
    return more;
}

/* Plans the next run, at the end of a round. */
void round_end(struct monitor *monitor, bool more)
{
    struct round *round = &monitor->round;
    struct plan  *plan = &monitor->plan;
    const int64_t now = clock_now();
    bool          pppd;

    round->active = false;
    round_cache_end(&monitor->cache);
    monitor->recheck = stale_add(monitor->recheck, round->unfinished);
    plan_poll(plan, round->began, now);
    plan_retry(plan, now, round->failed);
    runloop_lock(monitor->loop);
    if (round->unfinished != STALE_NONE || !list_is_empty(&monitor->watches.unfinished))
        plan_recheck(plan, now);
    mark_stale_locked(monitor, round->next_stale);
    if (watch_steps_end_round(&monitor->watches) || round->next_is_due || more)
        runloop_source_due_locked(monitor->loop, &monitor->source);
    pppd = monitor->watches.pppd > 0;
    plan_pppd(plan, now, pppd);
    plan_reread(plan, now, lifetimes_can_shorten(&monitor->watches.lifetimes),
                round->reread || plan->reread <= round->began);
    monitor->source.deadline = clock_earlier(plan_nearest(plan), lifetimes_next_end(&monitor->watches.lifetimes));
    runloop_unlock(monitor->loop);
    if (!pppd)
        pppd_clear(&monitor->cache.pppd);
}

void round_continue(struct monitor *monitor, bool more)
{
    if (run_slice(monitor))
        runloop_source_continues(monitor->loop, &monitor->source);
    else
        round_end(monitor, more);
}
