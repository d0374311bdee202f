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
#include <stdlib.h>

#include "base/clock.h"
#include "base/counted.h"
#include "kernel/routing_policy.h"
#include "route/monitor_state.h"
#include "route/round.h"

#define SHARING_MINIMUM 64 /* watches */

/* The messages of one run are read into it. */
struct news {
    struct monitor *monitor;
    struct changes  changes;
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

static void mark_affected_stale(struct news *news, const struct route *route)
{
    struct monitor *monitor = news->monitor;

    runloop_lock(monitor->loop);
    if (watch_set_mark_route(&monitor->watches, route))
        news->changes.any_stale = true;
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

static void note_route(struct news *news, const struct message *message)
{
    if (message->gone && route_is_link_multicast(&message->route))
        news->changes.unfinished = news->changes.all_stale = true;
    if (!news->changes.all_stale)
        mark_affected_stale(news, &message->route);
}

static void note_message(void *info, const struct message *message)
{
    struct news    *news = info;
    struct changes *changes = &news->changes;

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
        news->monitor->rules_known = false;
        changes->all_stale = true;
        break;
    case MESSAGE_NETCONF:
        changes->all_stale = true;
        break;
    case MESSAGE_NEIGHBOUR:
        if (gateways_update(&news->monitor->gateways, &message->neighbour))
            changes->all_stale = true;
        break;
    case MESSAGE_ROUTE:
        note_route(news, message);
        break;
    default:
        break;
    }
}

/* ---- Runs of the source ----------------------------------------------------------------------------------------- */

/* Runs the source if netlink is denied. */
static int monitor_poll(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, source);

    round_note_changes(monitor, &(struct changes){ 0 });
    round_continue(monitor, false);
    return 0;
}

static size_t count_watches(struct monitor *monitor)
{
    size_t count;

    runloop_lock(monitor->loop);
    count = monitor->watches.count;
    runloop_unlock(monitor->loop);
    return count;
}

/* Attaches another filter, if messages have come that it would have dropped. */
static void update_filter(struct monitor *monitor)
{
    struct route_filter program;
    bool                due;

    if (!monitor->filter.wanted)
        return;
    runloop_lock(monitor->loop);
    due = event_filter_prepare(&monitor->filter, &monitor->watches, &monitor->gateways, &program);
    runloop_unlock(monitor->loop);
    if (due && event_filter_attach(&monitor->filter, &monitor->rtnetlink.events, &program) != 0)
        plan_begin_polling(&monitor->plan);
}

/* Reads the links if that is due. Returns 0 or an errno. */
static int update_links(struct monitor *monitor, bool lost, bool drained, struct changes *changes)
{
    int error;

    if (monitor->links_known && !lost)
        return 0;
    error = rtnetlink_read_links(&monitor->rtnetlink);
    monitor->links_denied = error == NETLINK_DENIED;
    if (monitor->links_denied) {
        plan_begin_polling(&monitor->plan);
        error = 0;
    }
    /* After an overrun the kernel drops messages silently until the queue is read to its end. */
    monitor->links_known = error == 0 && drained;
    changes->all_stale = true;
    return error;
}

/* Reads the rules if that is due. Few watches do not share answers: the first evaluation of each would need one more
 * query. Rules that cannot be read are not standard. Returns 0 or an errno. */
static int update_sharing(struct monitor *monitor, bool lost)
{
    bool is_standard;
    int  error = 0;

    if (lost)
        monitor->rules_known = false;
    if (monitor->rules_known)
        return 0;
    monitor->shares = false;
    if (count_watches(monitor) < SHARING_MINIMUM)
        return 0;
    error = routing_policy_is_standard(&monitor->rtnetlink, &is_standard);
    if (error != 0 && error != NETLINK_DENIED)
        return error;
    monitor->rules_known = true;
    monitor->shares = is_standard;
    return 0;
}

static int monitor_run(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, source);
    struct news     news = { .monitor = monitor };
    struct changes *changes = &news.changes;
    int             drain_error = 0, error;
    const unsigned  drained = rtnetlink_drain(&monitor->rtnetlink, note_message, &news, &drain_error);
    const bool      lost = (drained & RTNETLINK_LOST) != 0, more = (drained & RTNETLINK_MORE) != 0;

    error = update_links(monitor, lost, drain_error == 0, changes);
    if (error == 0)
        error = update_sharing(monitor, lost);
    if (drain_error != 0 && monitor->round.active)
        changes->all_stale = false; /* the retry marks all */
    changes->unfinished = changes->unfinished || (lost && drain_error == 0);
    changes->failed = error != 0 || drain_error != 0;
    if (lost)
        gateways_distrust(&monitor->gateways);
    if (changes->prefix)
        mark_all_lifetimes_stale(monitor);
    round_note_changes(monitor, changes);
    if (error == 0)
        round_continue(monitor, more);
    else
        round_end(monitor, more);
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
        plan_begin_polling(&monitor->plan);
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

/* Without watches, the monitor ends. With stale answers, it runs. */
static void end_or_run_locked(struct monitor *monitor)
{
    if (watch_set_is_empty(&monitor->watches))
        runloop_remove_source_locked(monitor->loop, &monitor->source);
    else if (!list_is_empty(&monitor->watches.stale))
        runloop_source_due_locked(monitor->loop, &monitor->source);
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
        error = watch_set_add(&monitor->watches, watch);
        if (error == 0)
            watch->monitor = monitor;
        end_or_run_locked(monitor);
    }
    runloop_unlock(loop);
    return error;
}

int monitor_isolate(SCRunLoopRef loop, struct path_watch *watch)
{
    int error = 0;

    runloop_lock(loop);
    if (watch->monitor != NULL) {
        error = watch_set_isolate(&watch->monitor->watches, watch);
        end_or_run_locked(watch->monitor);
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
        end_or_run_locked(monitor);
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
