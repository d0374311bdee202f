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
#include "route/wireguard_path.h"

/* With one RTNL lock, a change is finished when the barrier returns. Newer kernels replace that lock by several locks,
 * so after a change all paths are evaluated a second time: RECHECK_AFTER the end of the last evaluation, RECHECK_WITHIN
 * that of the first. */
#define RECHECK_AFTER  (5 * MILLISECOND)
#define RECHECK_WITHIN (50 * MILLISECOND)

/* If a sandbox keeps the kernel's messages away, all paths are evaluated at this interval. */
#define POLL_INTERVAL (2 * SECOND)

/* A router advertisement can shorten the lifetime of a route. The kernel sends no message about that, or only one about
 * a prefix. So lifetimes are read again at this interval. */
#define LIFETIME_INTERVAL (5 * SECOND)

/* While a path depends on pppd's database, which announces no changes, a round begins at this interval. */
#define PPPD_INTERVAL (2 * SECOND)

/* If the kernel could not be queried, stale paths are evaluated again. The delay doubles from first to last. */
#define RETRY_FIRST (50 * MILLISECOND)
#define RETRY_LAST  (5 * SECOND)

struct monitor {
    struct source       source; /* under the loop's lock, as far as runloop.h says */
    SCRunLoopRef        loop;
    struct netns       *netns;
    struct rtnetlink    rtnetlink; /* closed if netlink is denied: then netns_evaluate is used */
    struct event_filter filter;
    struct watch_set    watches; /* under the loop's lock */
    struct round        round;   /* what the evaluations of one run share */
    bool                links_known;
    int64_t             poll;                    /* NEVER: the kernel announces all changes */
    int64_t             recheck, recheck_latest; /* NEVER: no second evaluation is planned */
    int64_t             reread;                  /* of lifetimes; NEVER: there are none that a router can shorten */
    int64_t             retry, retry_delay;
};

/* What the messages of one run affect. */
struct change_summary {
    struct monitor *monitor;
    bool            all_stale;  /* every path is stale */
    bool            prefix;     /* a router has advertised a prefix */
    bool            unfinished; /* the kernel may not have finished the change */
};

static void monitor_free(struct counted *counted)
{
    struct monitor *monitor = container_of(counted, struct monitor, source.counted);

    rtnetlink_close(&monitor->rtnetlink);
    watch_set_free(&monitor->watches);
    round_clear(&monitor->round);
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

static void mark_affected_stale(struct monitor *monitor, const struct route *route)
{
    runloop_lock(monitor->loop);
    if (!watch_set_mark_route(&monitor->watches, route))
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
            mark_affected_stale(changes->monitor, &message->route);
        break;
    default:
        break;
    }
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

/* The process may have entered a sandbox a moment ago. */
static void begin_polling(struct monitor *monitor)
{
    if (monitor->poll == NEVER)
        monitor->poll = 0;
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
static void requeue_watch(struct monitor *monitor, struct path_watch *watch, struct list *list)
{
    runloop_lock(monitor->loop);
    if (watch->monitor != NULL)
        watch_set_put_stale(watch, list);
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
    int      error = evaluate_questions(&monitor->rtnetlink, &monitor->round, questions, extras, ret);

    while (error == 0 && ret->dependencies.unknown_link != learned) {
        learned = ret->dependencies.unknown_link;
        error = learn_link(monitor, learned);
        if (error == 0)
            error = evaluate_questions(&monitor->rtnetlink, &monitor->round, questions, extras, ret);
    }
    if (error == 0)
        error = wireguard_path_follow(monitor->netns, &monitor->round, ret);
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
        error = netns_evaluate_in_round(monitor->netns, &monitor->round, questions, watch->extras, ret);
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
        requeue_watch(monitor, watch, &monitor->watches.stale);
    return 0;
}

/* Updates all stale watches. A watch stays stale if its evaluation fails. Returns 0, or the errno of the last
 * failure. */
static int update_stale_watches(struct monitor *monitor)
{
    struct list        failed, *node;
    struct path_watch *watch;
    int                result = 0;

    list_init(&failed);
    if (round_begin(&monitor->round))
        mark_pppd_stale(monitor);
    rtnetlink_set_barrier(&monitor->rtnetlink);
    while ((watch = take_next_stale(monitor)) != NULL) {
        const int error = update_watch(monitor, watch);

        if (error != 0) {
            result = error;
            requeue_watch(monitor, watch, &failed);
        }
        counted_release(watch->owner);
    }
    round_end(&monitor->round);
    runloop_lock(monitor->loop);
    while ((node = list_pop(&failed)) != NULL)
        list_append(&monitor->watches.stale, node);
    runloop_unlock(monitor->loop);
    return result;
}

/* ---- Runs of the source ----------------------------------------------------------------------------------------- */

/* The plan_ functions get the time at which the evaluation ended. It can have taken longer than their delays. */

static void plan_recheck(struct monitor *monitor, int64_t now)
{
    if (monitor->recheck == NEVER || monitor->recheck_latest <= now)
        monitor->recheck_latest = now + RECHECK_WITHIN;
    monitor->recheck = now + RECHECK_AFTER;
    if (monitor->recheck > monitor->recheck_latest)
        monitor->recheck = monitor->recheck_latest;
}

/* `began`: the time at which the polls that were due then were made. */
static void plan_poll(struct monitor *monitor, int64_t began, int64_t now)
{
    if (monitor->poll <= began)
        monitor->poll = now + POLL_INTERVAL;
}

/* `reread`: the lifetimes have been read in this run. */
static void plan_reread_locked(struct monitor *monitor, int64_t now, bool reread)
{
    if (!lifetimes_can_shorten(&monitor->watches.lifetimes))
        monitor->reread = NEVER;
    else if (reread || monitor->reread == NEVER)
        monitor->reread = now + LIFETIME_INTERVAL;
}

static void plan_retry(struct monitor *monitor, int64_t now, bool failed)
{
    if (!failed) {
        monitor->retry = NEVER;
        monitor->retry_delay = RETRY_FIRST;
        return;
    }
    monitor->retry = now + monitor->retry_delay;
    monitor->retry_delay *= 2;
    if (monitor->retry_delay > RETRY_LAST)
        monitor->retry_delay = RETRY_LAST;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_deadline_locked(const struct monitor *monitor, int64_t now)
{
    int64_t nearest = earlier(monitor->recheck, monitor->retry);

    nearest = earlier(nearest, monitor->poll);
    nearest = earlier(nearest, monitor->reread);
    nearest = earlier(nearest, lifetimes_next_end(&monitor->watches.lifetimes));
    if (!list_is_empty(&monitor->watches.pppd))
        nearest = earlier(nearest, now + PPPD_INTERVAL);
    return nearest;
}

/* Marks the watches stale whose time has come. */
static void mark_due_stale(struct monitor *monitor, int64_t now)
{
    if (monitor->recheck <= now) {
        monitor->recheck = NEVER;
        mark_all_stale(monitor);
    }
    if (monitor->poll <= now)
        mark_all_stale(monitor);
    runloop_lock(monitor->loop);
    if (monitor->reread <= now)
        watch_set_mark_lifetimes(&monitor->watches, false);
    watch_set_mark_ended(&monitor->watches, now);
    runloop_unlock(monitor->loop);
}

static void plan_next_run(struct monitor *monitor, int64_t began, bool reread, bool failed, bool more)
{
    const int64_t now = clock_now();
    bool          pppd;

    plan_poll(monitor, began, now);
    plan_retry(monitor, now, failed);
    runloop_lock(monitor->loop);
    plan_reread_locked(monitor, now, reread || monitor->reread <= began);
    monitor->source.deadline = next_deadline_locked(monitor, now);
    if (more)
        runloop_source_due_locked(monitor->loop, &monitor->source);
    pppd = !list_is_empty(&monitor->watches.pppd);
    runloop_unlock(monitor->loop);
    if (!pppd)
        pppd_clear(&monitor->round.pppd);
}

/* Runs the source if netlink is denied. */
static int monitor_poll(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, source);
    const int64_t   began = clock_now();
    int             error;

    mark_due_stale(monitor, began);
    error = update_stale_watches(monitor);
    plan_next_run(monitor, began, false, error != 0, false);
    return 0;
}

/* Attaches another filter, if messages have come that it would have dropped. */
static void update_filter(struct monitor *monitor)
{
    struct route_filter program;
    bool                due;

    runloop_lock(monitor->loop);
    due = event_filter_prepare(&monitor->filter, &monitor->watches.routes, &program);
    runloop_unlock(monitor->loop);
    if (due && event_filter_attach(&monitor->filter, &monitor->rtnetlink.events, &program) != 0)
        begin_polling(monitor);
}

static int monitor_run(struct source *source)
{
    struct monitor       *monitor = container_of(source, struct monitor, source);
    struct change_summary changes = { .monitor = monitor };
    const int64_t         began = clock_now();
    int                   drain_error = 0, error = 0;
    const unsigned        news = rtnetlink_drain(&monitor->rtnetlink, note_message, &changes, &drain_error);

    if (!monitor->links_known || (news & RTNETLINK_LOST) != 0) {
        error = rtnetlink_read_links(&monitor->rtnetlink);
        /* After an overrun the kernel drops messages silently until the queue is read to its end. */
        monitor->links_known = error == 0 && drain_error == 0;
        changes.all_stale = true;
    }
    if (changes.all_stale)
        mark_all_stale(monitor);
    mark_due_stale(monitor, began);
    if (changes.prefix)
        mark_all_lifetimes_stale(monitor);
    if (error == 0)
        error = update_stale_watches(monitor);
    update_filter(monitor);
    if (changes.unfinished || (news & RTNETLINK_LOST) != 0)
        plan_recheck(monitor, clock_now());
    plan_next_run(monitor, began, changes.prefix, error != 0 || drain_error != 0, (news & RTNETLINK_MORE) != 0);
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
    monitor->poll = error != 0 || monitor->rtnetlink.groups_refused ? 0 : NEVER;
    monitor->source = (struct source){ .fd = monitor->rtnetlink.events.socket.fd,
                                       .deadline = NEVER,
                                       .run = error == 0 ? monitor_run : monitor_poll };
    list_init(&monitor->source.node);
    counted_init(&monitor->source.counted, monitor_free);
    monitor->loop = loop;
    monitor->netns = netns;
    netns_retain(netns);
    watch_set_init(&monitor->watches);
    monitor->recheck = monitor->reread = monitor->retry = NEVER;
    monitor->retry_delay = RETRY_FIRST;
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
