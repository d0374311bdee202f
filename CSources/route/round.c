/* SPDX-License-Identifier: MIT */
/*
 * The rounds of a monitor: which watches are evaluated next, and what follows.
 *
 * What this file must never do: evaluate without the barrier, or take a watch while the filter can drop messages that
 * affect it.
 */
#include "route/round.h"

#include "base/clock.h"
#include "base/counted.h"
#include "base/list.h"
#include "route/full_path.h"
#include "route/monitor_state.h"

/* In a round with many stale watches, each run evaluates a slice of them. Between two slices the loop makes callbacks
 * and reads new messages. The first slices are small, so that the first callback comes soon. */
#define SLICE_FIRST 16
#define SLICE_LAST  256

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

/* Returns a stale watch, with a reference to its owner. The filter then passes the messages that affect it. */
static struct path_watch *take_next_stale(struct monitor *monitor)
{
    struct path_watch *watch;

    runloop_lock(monitor->loop);
    if (!event_filter_passes_all(&monitor->filter, &monitor->watches.routes) &&
        event_filter_detach(&monitor->filter, &monitor->rtnetlink.events) != 0)
        plan_begin_polling(&monitor->plan);
    watch = watch_set_take_stale(&monitor->watches);
    if (watch != NULL)
        counted_retain(watch->owner);
    runloop_unlock(monitor->loop);
    return watch;
}

/* Makes the watch stale again, unless it has ended. */
static void requeue_watch(struct monitor *monitor, struct path_watch *watch)
{
    runloop_lock(monitor->loop);
    if (watch->monitor != NULL)
        watch_set_put_stale(watch, &monitor->watches.round);
    runloop_unlock(monitor->loop);
}

static void note_failure(struct monitor *monitor, struct path_watch *watch)
{
    runloop_lock(monitor->loop);
    if (watch->monitor != NULL) /* it has not ended */
        watch_set_note_failure(&monitor->watches, watch);
    runloop_unlock(monitor->loop);
}

static struct questions *retain_watch_questions(struct monitor *monitor, const struct path_watch *watch)
{
    struct questions *questions;

    runloop_lock(monitor->loop);
    questions = watch->questions;
    counted_retain(&questions->counted);
    runloop_unlock(monitor->loop);
    return questions;
}

static bool can_receive(const struct monitor *monitor)
{
    return monitor->rtnetlink.events.socket.fd >= 0;
}

static int evaluate_over_netlink(struct monitor *monitor, struct path_watch *watch, const struct questions *questions,
                                 struct path *ret)
{
    if (watch->evaluate != NULL)
        return watch->evaluate(watch, &monitor->rtnetlink, monitor->netns, &monitor->cache, questions, ret);
    return full_path_evaluate(&monitor->rtnetlink, monitor->netns, &monitor->cache, questions, watch->extras, ret);
}

static int evaluate_without_netlink(struct monitor *monitor, struct path_watch *watch,
                                    const struct questions *questions, struct path *ret)
{
    if (watch->evaluate != NULL)
        return watch->evaluate(watch, NULL, monitor->netns, &monitor->cache, questions, ret);
    return netns_evaluate_in_round(monitor->netns, &monitor->cache, questions, watch->extras, ret);
}

static int evaluate_watch(struct monitor *monitor, struct path_watch *watch, struct path *ret)
{
    struct questions *questions = retain_watch_questions(monitor, watch);
    int               error = NETLINK_DENIED;

    if (can_receive(monitor))
        error = evaluate_over_netlink(monitor, watch, questions, ret);
    if (error == NETLINK_DENIED) { /* the process may have entered a sandbox a moment ago */
        plan_begin_polling(&monitor->plan);
        error = evaluate_without_netlink(monitor, watch, questions, ret);
    }
    questions_release(questions);
    return error;
}

/* Returns false if the filter may have dropped messages about what the path now depends on. */
static bool update_dependencies(struct monitor *monitor, struct path_watch *watch,
                                const struct dependencies *dependencies)
{
    bool covered = true;

    runloop_lock(monitor->loop);
    if (watch->monitor != NULL) { /* it has not ended */
        watch_set_update(&monitor->watches, watch, dependencies);
        covered = event_filter_passes_all(&monitor->filter, &monitor->watches.routes);
    }
    runloop_unlock(monitor->loop);
    return covered;
}

/* Evaluates one watch and gives the path to its owner. Returns 0, or an errno if the evaluation failed. */
static int update_watch(struct monitor *monitor, struct path_watch *watch)
{
    const unsigned long path_version = atomic_load(watch->path_version);
    struct path         path;
    bool                covered;
    const int           error = evaluate_watch(monitor, watch, &path);

    if (error != 0)
        return error;
    covered = update_dependencies(monitor, watch, &path.dependencies);
    if (!watch->accept(watch, &path, path_version) || !covered)
        requeue_watch(monitor, watch);
    return 0;
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

/* Marks the watches stale whose time has come. */
static void mark_due_stale_locked(struct monitor *monitor)
{
    struct plan  *plan = &monitor->plan;
    const int64_t now = monitor->round.began;

    if (plan->recheck <= now || plan->poll <= now)
        watch_set_mark_all(&monitor->watches);
    if (plan->recheck <= now)
        plan->recheck = NEVER;
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
                             .unfinished = round->next_unfinished || changes->unfinished,
                             .reread = changes->prefix };
    pppd = round_cache_begin(&monitor->cache);
    runloop_lock(monitor->loop);
    if (changes->all_stale)
        watch_set_mark_all(&monitor->watches);
    if (pppd)
        watch_set_mark_pppd(&monitor->watches);
    mark_due_stale_locked(monitor);
    watch_set_begin_round(&monitor->watches);
    runloop_unlock(monitor->loop);
}

/* Notes what has changed during a round. All watches are marked only once, at its end: in a storm of messages about
 * links, each slice would mark all. */
static void keep_for_next_round(struct round *round, const struct changes *changes)
{
    round->failed = round->failed || changes->failed;
    round->next_all = round->next_all || changes->all_stale;
    round->next_unfinished = round->next_unfinished || changes->unfinished;
    round->next_is_due = round->next_is_due || changes->any_stale || changes->prefix;
}

void round_note_changes(struct monitor *monitor, const struct changes *changes)
{
    if (monitor->round.active)
        keep_for_next_round(&monitor->round, changes);
    else
        begin_round(monitor, changes);
}

/* Evaluates watches of the round. Returns whether others may be left. A watch stays stale if its evaluation fails. */
static bool run_slice(struct monitor *monitor)
{
    struct round      *round = &monitor->round;
    struct path_watch *watch = NULL;

    rtnetlink_set_barrier(&monitor->rtnetlink);
    for (unsigned i = 0; i < round->slice && (watch = take_next_stale(monitor)) != NULL; i++) {
        if (update_watch(monitor, watch) != 0) {
            round->failed = true;
            note_failure(monitor, watch);
        }
        counted_release(watch->owner);
    }
    if (round->slice < SLICE_LAST)
        round->slice *= 2;
    return watch != NULL;
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
    if (round->unfinished)
        plan_recheck(plan, now);
    plan_poll(plan, round->began, now);
    plan_retry(plan, now, round->failed);
    runloop_lock(monitor->loop);
    if (round->next_all)
        watch_set_mark_all(&monitor->watches);
    if (watch_set_end_round(&monitor->watches) || round->next_is_due || more)
        runloop_source_due_locked(monitor->loop, &monitor->source);
    pppd = !list_is_empty(&monitor->watches.pppd);
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
