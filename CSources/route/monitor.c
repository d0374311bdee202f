/* SPDX-License-Identifier: MIT */
/*
 * The monitor of one network namespace for one run loop. It is a source of the loop: it has no thread, and the thread
 * that drives the loop reads the kernel's messages, evaluates, and makes the callbacks.
 *
 * What this file must never do: use the content of a message as the new state (the kernel sends the message before it
 * makes the change), or ignore that messages were lost. A path may be wrong for a moment. It must not stay wrong.
 *
 * Only the thread that drives the loop uses `rtnetlink`. The lists of watches are under the loop's lock.
 */
#include "route/monitor.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/list.h"
#include "route/event_filter.h"
#include "route/plan.h"
#include "route/wireguard_path.h"

/* In a round with many stale watches, each run evaluates a slice of them. Between two slices the loop makes callbacks
 * and reads new messages. The first slices are small, so that the first callback comes soon. */
#define SLICE_FIRST 16
#define SLICE_LAST  256

/* A round: the evaluation of all watches that were stale when it began. */
struct round_progress {
    bool     in_round;
    int64_t  began;
    unsigned slice;      /* watches in the next run, at most */
    bool     failed;     /* an evaluation, or reading messages or links */
    bool     unfinished; /* the kernel may not have finished a change */
    bool     reread;     /* the lifetimes are read in this round */

    /* What messages during this round mean for the next. */
    bool next_all;        /* all watches are stale then */
    bool next_unfinished; /* see `unfinished` */
    bool next_is_due;     /* it begins at once */
};

struct monitor {
    struct source         source; /* under the loop's lock, as far as runloop.h says */
    SCRunLoopRef          loop;
    struct netns         *netns;
    struct rtnetlink      rtnetlink; /* closed if netlink is denied: then netns_evaluate_in_round is used */
    struct event_filter   filter;
    struct watch_set      watches; /* under the loop's lock */
    struct plan           plan;
    struct round_cache    cache; /* what the evaluations of one round share */
    struct round_progress progress;
    bool                  links_known;
};

/* What the messages of one run affect. */
struct change_summary {
    struct monitor *monitor;
    bool            any_stale;  /* at least one path is stale */
    bool            all_stale;  /* every path is stale */
    bool            prefix;     /* a router has advertised a prefix */
    bool            unfinished; /* the kernel may not have finished the change */
};

static void monitor_free(struct counted *counted)
{
    struct monitor *monitor = container_of(counted, struct monitor, source.counted);

    rtnetlink_close(&monitor->rtnetlink);
    watch_set_free(&monitor->watches);
    round_cache_clear(&monitor->cache);
    netns_release(monitor->netns);
    free(monitor);
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void mark_all_stale(struct monitor *monitor)
{
    runloop_lock(monitor->loop);
    watch_set_mark_all(&monitor->watches);
    runloop_unlock(monitor->loop);
}

static void mark_affected_stale(struct change_summary *changes, const struct route *route)
{
    struct monitor *monitor = changes->monitor;

    runloop_lock(monitor->loop);
    if (watch_set_mark_route(&monitor->watches, route))
        changes->any_stale = true;
    else
        monitor->filter.wanted = true;
    runloop_unlock(monitor->loop);
}

static void mark_all_lifetimes_stale(struct monitor *monitor)
{
    runloop_lock(monitor->loop);
    watch_set_mark_lifetimes(&monitor->watches, true);
    runloop_unlock(monitor->loop);
}

static void mark_pppd_stale(struct monitor *monitor)
{
    runloop_lock(monitor->loop);
    watch_set_mark_pppd(&monitor->watches);
    runloop_unlock(monitor->loop);
}

static void note_message(void *info, const struct message *message)
{
    struct change_summary *changes = info;

    switch (message->kind) {
    case MESSAGE_LINK:
    case MESSAGE_LINK_GONE:
    case MESSAGE_ADDRESS:
    case MESSAGE_NEXTHOP:
        changes->unfinished = true;
        changes->all_stale = true;
        break;
    case MESSAGE_PREFIX:
        changes->prefix = true;
        break;
    case MESSAGE_RULE:
    case MESSAGE_NETCONF:
        changes->all_stale = true;
        break;
    case MESSAGE_ROUTE:
        if (!changes->all_stale)
            mark_affected_stale(changes, &message->route);
        break;
    default:
        break;
    }
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

/* The process may have entered a sandbox a moment ago. */
static void begin_polling(struct monitor *monitor)
{
    plan_begin_polling(&monitor->plan);
}

/* Returns a stale watch, with a reference to its owner. The filter then passes the messages that affect it. */
static struct path_watch *take_next_stale(struct monitor *monitor)
{
    struct path_watch *watch;

    runloop_lock(monitor->loop);
    if (!event_filter_passes_all(&monitor->filter, &monitor->watches.routes) &&
        event_filter_detach(&monitor->filter, &monitor->rtnetlink.events) != 0)
        begin_polling(monitor);
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

/* Finds out the type of a link, as far as possible. Returns 0 or an errno. */
static int learn_link(struct monitor *monitor, uint32_t index)
{
    struct link_table *links = &monitor->rtnetlink.links;
    const unsigned     changes = links->changes;
    struct link        link;
    const int          error = netns_query_link_type(monitor->netns, index, &link);

    if (error == 0)
        link_table_learn(links, &link, changes);
    else if (netlink_is_withheld(error))
        link_table_give_up(links, index);
    else if (error != ENODEV) /* the link was deleted a moment ago */
        return error;
    return 0;
}

/* Evaluates, finds out the type of a link that the path depends on, and evaluates again. One tunnel can be behind
 * another tunnel, so this can repeat. */
static int evaluate_over_monitor_socket(struct monitor *monitor, const struct questions *questions, unsigned extras,
                                        struct path *ret)
{
    uint32_t learned = 0;
    int      error = evaluate_questions(&monitor->rtnetlink, &monitor->cache, questions, extras, ret);

    while (error == 0 && ret->dependencies.unknown_link != learned) {
        learned = ret->dependencies.unknown_link;
        error = learn_link(monitor, learned);
        if (error == 0)
            error = evaluate_questions(&monitor->rtnetlink, &monitor->cache, questions, extras, ret);
    }
    if (error == 0)
        error = wireguard_path_follow(monitor->netns, &monitor->cache, ret);
    if (error == 0)
        questions_adjust_path(questions, ret); /* the other end of a tunnel may have set another reason */
    return error;
}

static int evaluate_watch(struct monitor *monitor, const struct path_watch *watch, struct path *ret)
{
    struct questions *questions = retain_watch_questions(monitor, watch);
    int               error = NETLINK_DENIED;

    if (can_receive(monitor))
        error = evaluate_over_monitor_socket(monitor, questions, watch->extras, ret);
    if (error == NETLINK_DENIED) {
        begin_polling(monitor);
        error = netns_evaluate_in_round(monitor->netns, &monitor->cache, questions, watch->extras, ret);
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

static void begin_round(struct monitor *monitor, int64_t began)
{
    const bool unfinished = monitor->progress.next_unfinished;

    monitor->progress = (struct round_progress){
        .in_round = true, .began = began, .slice = SLICE_FIRST, .unfinished = unfinished
    };
    if (round_cache_begin(&monitor->cache))
        mark_pppd_stale(monitor);
    runloop_lock(monitor->loop);
    watch_set_begin_round(&monitor->watches);
    runloop_unlock(monitor->loop);
}

/* Evaluates watches of the round. Returns whether others may be left. A watch stays stale if its evaluation fails. */
static bool run_slice(struct monitor *monitor)
{
    struct round_progress *progress = &monitor->progress;
    struct path_watch     *watch = NULL;

    rtnetlink_set_barrier(&monitor->rtnetlink);
    for (unsigned i = 0; i < progress->slice && (watch = take_next_stale(monitor)) != NULL; i++) {
        if (update_watch(monitor, watch) != 0) {
            progress->failed = true;
            note_failure(monitor, watch);
        }
        counted_release(watch->owner);
    }
    if (progress->slice < SLICE_LAST)
        progress->slice *= 2;
    return watch != NULL;
}

/* Plans the next run, at the end of a round. */
static void end_round(struct monitor *monitor, bool more)
{
    struct round_progress *progress = &monitor->progress;
    struct plan           *plan = &monitor->plan;
    const int64_t          now = clock_now();
    bool                   pppd;

    progress->in_round = false;
    round_cache_end(&monitor->cache);
    if (progress->unfinished)
        plan_recheck(plan, now);
    plan_poll(plan, progress->began, now);
    plan_retry(plan, now, progress->failed);
    runloop_lock(monitor->loop);
    if (progress->next_all)
        watch_set_mark_all(&monitor->watches);
    if (watch_set_end_round(&monitor->watches) || progress->next_is_due || more)
        runloop_source_due_locked(monitor->loop, &monitor->source);
    pppd = !list_is_empty(&monitor->watches.pppd);
    plan_pppd(plan, now, pppd);
    plan_reread(plan, now, lifetimes_can_shorten(&monitor->watches.lifetimes),
                progress->reread || plan->reread <= progress->began);
    monitor->source.deadline = clock_earlier(plan_nearest(plan), lifetimes_next_end(&monitor->watches.lifetimes));
    runloop_unlock(monitor->loop);
    if (!pppd)
        pppd_clear(&monitor->cache.pppd);
}

/* ---- Runs of the source ----------------------------------------------------------------------------------------- */

/* Marks the watches stale whose time has come. */
static void mark_due_stale(struct monitor *monitor, int64_t now)
{
    struct plan *plan = &monitor->plan;

    runloop_lock(monitor->loop);
    if (plan->recheck <= now || plan->poll <= now)
        watch_set_mark_all(&monitor->watches);
    if (plan->recheck <= now)
        plan->recheck = NEVER;
    if (plan->reread <= now)
        watch_set_mark_lifetimes(&monitor->watches, false);
    watch_set_mark_ended(&monitor->watches, now);
    runloop_unlock(monitor->loop);
}

/* Evaluates the next slice, of a new round if the previous one has ended. `more`: messages are left to be read. */
static void continue_round(struct monitor *monitor, bool more)
{
    if (run_slice(monitor))
        runloop_source_continues(monitor->loop, &monitor->source);
    else
        end_round(monitor, more);
}

/* Runs the source if netlink is denied. */
static int monitor_poll(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, source);
    const int64_t   now = clock_now();

    if (!monitor->progress.in_round) {
        mark_due_stale(monitor, now);
        begin_round(monitor, now);
    }
    continue_round(monitor, false);
    return 0;
}

/* Attaches another filter, if messages have come that it would have dropped. */
static void update_filter(struct monitor *monitor)
{
    struct route_filter program;
    bool                due;

    if (!monitor->filter.wanted)
        return;
    runloop_lock(monitor->loop);
    due = event_filter_prepare(&monitor->filter, &monitor->watches.routes, &program);
    runloop_unlock(monitor->loop);
    if (due && event_filter_attach(&monitor->filter, &monitor->rtnetlink.events, &program) != 0)
        begin_polling(monitor);
}

/* Reads the links if that is due. Returns 0 or an errno. */
static int update_links(struct monitor *monitor, bool lost, bool drained, struct change_summary *changes)
{
    int error;

    if (monitor->links_known && !lost)
        return 0;
    error = rtnetlink_read_links(&monitor->rtnetlink);
    /* After an overrun the kernel drops messages silently until the queue is read to its end. */
    monitor->links_known = error == 0 && drained;
    changes->all_stale = true;
    return error;
}

/* Begins a round with what the messages before it have changed. */
static void begin_round_after(struct monitor *monitor, const struct change_summary *changes)
{
    const int64_t began = clock_now();

    if (changes->all_stale)
        mark_all_stale(monitor);
    mark_due_stale(monitor, began);
    begin_round(monitor, began);
    monitor->progress.reread = changes->prefix;
    monitor->progress.unfinished = monitor->progress.unfinished || changes->unfinished;
}

/* Notes what has changed during a round. All watches are marked only once, at its end: in a storm of messages about
 * links, each slice would mark all. */
static void note_changes_for_next_round(struct monitor *monitor, const struct change_summary *changes)
{
    struct round_progress *progress = &monitor->progress;

    progress->next_all = progress->next_all || changes->all_stale;
    progress->next_unfinished = progress->next_unfinished || changes->unfinished;
    progress->next_is_due = progress->next_is_due || changes->any_stale || changes->prefix;
}

static int monitor_run(struct source *source)
{
    struct monitor       *monitor = container_of(source, struct monitor, source);
    struct change_summary changes = { .monitor = monitor };
    int                   drain_error = 0, error;
    const unsigned        news = rtnetlink_drain(&monitor->rtnetlink, note_message, &changes, &drain_error);
    const bool            lost = (news & RTNETLINK_LOST) != 0, more = (news & RTNETLINK_MORE) != 0;

    error = update_links(monitor, lost, drain_error == 0, &changes);
    if (drain_error != 0 && monitor->progress.in_round)
        changes.all_stale = false; /* the retry marks all */
    changes.unfinished = changes.unfinished || (lost && drain_error == 0);
    if (changes.prefix)
        mark_all_lifetimes_stale(monitor);
    if (monitor->progress.in_round)
        note_changes_for_next_round(monitor, &changes);
    else
        begin_round_after(monitor, &changes);
    monitor->progress.failed = monitor->progress.failed || error != 0 || drain_error != 0;
    if (error == 0)
        continue_round(monitor, more);
    else
        end_round(monitor, more);
    update_filter(monitor);
    return drain_error;
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

static bool is_monitor_of(const struct source *source, const void *netns)
{
    return (source->run == monitor_run || source->run == monitor_poll) &&
           container_of(source, const struct monitor, source)->netns == netns;
}

static int monitor_create_locked(SCRunLoopRef loop, struct netns *netns, struct monitor **ret)
{
    struct monitor *monitor = calloc(1, sizeof *monitor);
    int             error;

    if (monitor == NULL)
        return ENOMEM;
    error = netns_open_rtnetlink(netns, RTNETLINK_ALL, &monitor->rtnetlink);
    if (error != 0 && error != NETLINK_DENIED) {
        free(monitor);
        return error;
    }
    plan_init(&monitor->plan);
    if (error != 0 || monitor->rtnetlink.groups_refused)
        begin_polling(monitor);
    monitor->source = (struct source){ .fd = monitor->rtnetlink.events.socket.fd,
                                       .deadline = NEVER,
                                       .run = error == 0 ? monitor_run : monitor_poll };
    list_init(&monitor->source.node);
    counted_init(&monitor->source.counted, monitor_free);
    monitor->loop = loop;
    monitor->netns = netns;
    netns_retain(netns);
    watch_set_init(&monitor->watches);
    error = runloop_add_source_locked(loop, &monitor->source);
    counted_release(&monitor->source.counted); /* the loop has its own reference */
    if (error == 0)
        *ret = monitor;
    return error;
}

int monitor_watch(SCRunLoopRef loop, struct netns *netns, struct path_watch *watch)
{
    struct monitor *monitor;
    struct source  *source;
    int             error = 0;

    runloop_lock(loop);
    source = runloop_find_source_locked(loop, is_monitor_of, netns);
    if (source != NULL)
        monitor = container_of(source, struct monitor, source);
    else
        error = monitor_create_locked(loop, netns, &monitor);
    if (error == 0) {
        watch->monitor = monitor;
        watch_set_add(&monitor->watches, watch);
        runloop_source_due_locked(loop, &monitor->source);
    }
    runloop_unlock(loop);
    return error;
}

void monitor_set_questions(SCRunLoopRef loop, struct path_watch *watch, struct questions *questions)
{
    struct questions *before;

    counted_retain(&questions->counted);
    runloop_lock(loop);
    before = watch->questions;
    watch->questions = questions;
    if (watch->monitor != NULL) {
        watch_set_replace_questions(&watch->monitor->watches, watch);
        runloop_source_due_locked(loop, &watch->monitor->source);
    }
    runloop_unlock(loop);
    questions_release(before);
}

void monitor_unwatch(SCRunLoopRef loop, struct path_watch *watch)
{
    struct monitor *monitor;

    runloop_lock(loop);
    monitor = watch->monitor;
    if (monitor != NULL) {
        watch->monitor = NULL;
        watch_set_remove(&monitor->watches, watch);
        if (watch_set_is_empty(&monitor->watches))
            runloop_remove_source_locked(loop, &monitor->source);
        else if (!list_is_empty(&monitor->watches.stale))
            runloop_source_due_locked(loop, &monitor->source);
    }
    runloop_unlock(loop);
}

struct monitor_counters monitor_count(SCRunLoopRef loop, const struct path_watch *watch)
{
    struct monitor_counters counters = { 0 };

    runloop_lock(loop);
    if (watch->monitor != NULL) {
        counters.overruns = watch->monitor->rtnetlink.overruns;
        counters.queries = watch->monitor->rtnetlink.queries;
    }
    runloop_unlock(loop);
    return counters;
}
