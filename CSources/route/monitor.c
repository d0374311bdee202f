/* SPDX-License-Identifier: MIT */
/*
 * One monitor per (run loop, network namespace). It lives inside the loop, as one of its sources, and is driven by it:
 * no thread, and no hop between the kernel's message and the callback.
 *
 * What this file must never do: believe a message instead of asking (it says that something may have changed, and is
 * sent before the change), or go on after lost messages as if nothing had happened. To be wrong for a moment is
 * allowed; to stay wrong is not.
 *
 * The view is touched by the driving thread alone. The lists of watches are under the loop's lock.
 */
#include "route/monitor.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/list.h"
#include "route/wireguard_path.h"

/* Kernels are moving away from one RTNL lock, behind which every change is finished: what caused a round is asked about
 * once more this much later, and never put off beyond the second figure. */
#define ASK_AGAIN_AFTER  (5 * MILLISECOND)
#define ASK_AGAIN_WITHIN (50 * MILLISECOND)

/* Where a sandbox lets nothing be heard, this is how often everything is asked. */
#define POLL_EVERY (2 * SECOND)

/* When the kernel could not be asked: what is still in doubt is tried again, less and less often. */
#define RETRY_FIRST (50 * MILLISECOND)
#define RETRY_LAST  (5 * SECOND)

struct monitor {
    struct source          source; /* under the loop's lock, as far as runloop.h says */
    SCRunLoopRef           loop;
    struct netns          *netns;
    struct rtnetlink       rtnetlink; /* closed when nothing can be heard: then the namespace's shared one is asked */
    struct list            watches, dirty; /* under the loop's lock */
    struct wireguard_peers peers;          /* of a WireGuard link, for one round */
    bool                   links_known;
    int64_t                poll;                        /* NEVER: the kernel tells of everything */
    int64_t                ask_again, ask_again_latest; /* NEVER: no round to repeat */
    int64_t                retry, retry_delay;
};

/* One round: what the messages said. */
struct round {
    struct monitor *monitor;
    bool            everything; /* every answer is in doubt */
    bool            unfinished; /* the kernel may be in the middle of the change */
};

static void monitor_free(struct counted *counted)
{
    struct monitor *monitor = container_of(counted, struct monitor, source.counted);

    rtnetlink_close(&monitor->rtnetlink);
    netns_release(monitor->netns);
    free(monitor);
}

/* ---- Which answers are in doubt --------------------------------------------------------------------------------- */

static void mark_locked(struct monitor *monitor, struct watch *watch)
{
    if (list_is_empty(&watch->dirty))
        list_append(&monitor->dirty, &watch->dirty);
}

static void mark_all(struct monitor *monitor)
{
    runloop_lock(monitor->loop);
    list_for_each(node, &monitor->watches)
        mark_locked(monitor, container_of(node, struct watch, node));
    runloop_unlock(monitor->loop);
}

static void mark_touched(struct monitor *monitor, const struct route *route)
{
    runloop_lock(monitor->loop);
    list_for_each(node, &monitor->watches) {
        struct watch *watch = container_of(node, struct watch, node);

        if (evaluate_route_affects_dependencies(route, &watch->depends_on))
            mark_locked(monitor, watch);
        for (size_t i = 0; i < watch->questions->count; i++)
            if (evaluate_route_affects(route, &watch->questions->items[i]))
                mark_locked(monitor, watch);
    }
    runloop_unlock(monitor->loop);
}

static void mark_expired(struct monitor *monitor, int64_t now)
{
    runloop_lock(monitor->loop);
    list_for_each(node, &monitor->watches) {
        struct watch *watch = container_of(node, struct watch, node);

        if (watch->expires <= now) {
            watch->expires = NEVER;
            mark_locked(monitor, watch);
        }
    }
    runloop_unlock(monitor->loop);
}

static void hear(void *info, const struct message *message)
{
    struct round *round = info;

    switch (message->kind) {
    case MESSAGE_LINK:
    case MESSAGE_LINK_GONE:
    case MESSAGE_ADDRESS:
    case MESSAGE_NEXTHOP:
        round->unfinished = true;
        round->everything = true;
        break;
    case MESSAGE_RULE:
    case MESSAGE_NETCONF:
        round->everything = true;
        break;
    case MESSAGE_ROUTE:
        if (!round->everything)
            mark_touched(round->monitor, &message->route);
        break;
    default:
        break;
    }
}

/* ---- Asking ----------------------------------------------------------------------------------------------------- */

static struct watch *next_dirty(struct monitor *monitor)
{
    struct watch *watch = NULL;
    struct list  *node;

    runloop_lock(monitor->loop);
    node = list_pop(&monitor->dirty);
    if (node != NULL) {
        watch = container_of(node, struct watch, dirty);
        counted_retain(watch->owner);
    }
    runloop_unlock(monitor->loop);
    return watch;
}

static bool may_expire(const struct watch *watch)
{
    for (size_t i = 0; i < watch->questions->count; i++)
        if (watch->questions->items[i].destination.family != AF_INET)
            return true;
    return false;
}

/* When to ask again, two ticks after what the kernel says: it rounds down twice. For the same reason it says "never" in
 * the route's last tick, and then what was known before stands. That can lie up to two ticks and two of the kernel's
 * jiffies ahead of the end (a jiffy is 10 ms at most): five ticks are wide enough. Where nothing was known yet, "never"
 * may mean the last tick just as well, so it has to be said twice. */
static void note_expiry_locked(struct watch *watch, uint32_t ticks)
{
    const int64_t tick = SECOND / sysconf(_SC_CLK_TCK), now = clock_now();

    if (ticks != 0)
        watch->expires = now + ((int64_t)ticks + 2) * tick;
    else if (!watch->asked && may_expire(watch))
        watch->expires = now + 5 * tick;
    else if (watch->expires <= now || watch->expires > now + 5 * tick)
        watch->expires = NEVER;
    watch->asked = true;
}

/* In doubt again, as long as somebody still watches. */
static void put_back(struct monitor *monitor, struct watch *watch, struct list *list)
{
    runloop_lock(monitor->loop);
    if (watch->monitor != NULL && list_is_empty(&watch->dirty))
        list_append(list, &watch->dirty);
    runloop_unlock(monitor->loop);
}

static struct questions *questions_of(struct monitor *monitor, const struct watch *watch)
{
    struct questions *questions;

    runloop_lock(monitor->loop);
    questions = watch->questions;
    counted_retain(&questions->counted);
    runloop_unlock(monitor->loop);
    return questions;
}

static bool hears(const struct monitor *monitor)
{
    return monitor->rtnetlink.events.socket.fd >= 0;
}

/* Finds out more of a link, where more is to be found out. 0 or an errno. */
static int learn(struct monitor *monitor, uint32_t index)
{
    struct link_table *links = &monitor->rtnetlink.links;
    const unsigned     changes = links->changes;
    struct link        link;
    const int          error = netns_query_link_type(monitor->netns, index, &link);

    if (error == 0)
        link_table_learn(links, &link, changes);
    else if (netlink_is_withheld(error))
        link_table_give_up(links, index);
    else if (error != ENODEV) /* it went a moment ago */
        return error;
    return 0;
}

/* Asks the view, and again once more is known of a link that the answer hangs on: one tunnel may lie behind another. */
static int ask_view(struct monitor *monitor, const struct questions *questions, unsigned extras, struct path *ret)
{
    uint32_t learned = 0;
    int      error = evaluate_questions(&monitor->rtnetlink, questions, extras, ret);

    while (error == 0 && ret->depends_on.unknown != learned) {
        learned = ret->depends_on.unknown;
        error = learn(monitor, learned);
        if (error == 0)
            error = evaluate_questions(&monitor->rtnetlink, questions, extras, ret);
    }
    return error == 0 ? wireguard_path_follow(monitor->netns, &monitor->peers, ret) : error;
}

static int find(struct monitor *monitor, const struct watch *watch, struct path *ret)
{
    struct questions *questions = questions_of(monitor, watch);
    int               error = NETLINK_DENIED;

    if (hears(monitor))
        error = ask_view(monitor, questions, watch->extras, ret);
    if (error == NETLINK_DENIED) {
        /* A sandbox may have been entered since: what is not heard any more is polled. */
        if (monitor->poll == NEVER)
            monitor->poll = clock_now() + POLL_EVERY;
        error = netns_evaluate(monitor->netns, questions, watch->extras, ret);
    }
    questions_release(questions);
    return error;
}

/* Puts one question. 0, or an errno: the answer could not be had. */
static int ask_one(struct monitor *monitor, struct watch *watch)
{
    const unsigned long answers = atomic_load(watch->answers);
    struct path         path;
    const int           error = find(monitor, watch, &path);

    if (error != 0)
        return error;
    runloop_lock(monitor->loop);
    note_expiry_locked(watch, path.depends_on.expires);
    watch->depends_on = path.depends_on;
    runloop_unlock(monitor->loop);
    if (!watch->answered(watch, &path, answers))
        put_back(monitor, watch, &monitor->dirty);
    return 0;
}

/* Asks for every answer in doubt. Those that could not be had stay in doubt. 0, or the errno of the last of these. */
static int ask_dirty(struct monitor *monitor)
{
    struct list   failed, *node;
    struct watch *watch;
    int           result = 0;

    list_init(&failed);
    rtnetlink_set_barrier(&monitor->rtnetlink);
    while ((watch = next_dirty(monitor)) != NULL) {
        const int error = ask_one(monitor, watch);

        if (error != 0) {
            result = error;
            put_back(monitor, watch, &failed);
        }
        counted_release(watch->owner);
    }
    wireguard_clear(&monitor->peers);
    runloop_lock(monitor->loop);
    while ((node = list_pop(&failed)) != NULL)
        list_append(&monitor->dirty, node);
    runloop_unlock(monitor->loop);
    return result;
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

static void plan_to_ask_again(struct monitor *monitor, int64_t now)
{
    if (monitor->ask_again == NEVER)
        monitor->ask_again_latest = now + ASK_AGAIN_WITHIN;
    monitor->ask_again = now + ASK_AGAIN_AFTER;
    if (monitor->ask_again > monitor->ask_again_latest)
        monitor->ask_again = monitor->ask_again_latest;
}

static void plan_to_retry(struct monitor *monitor, int64_t now, bool failed)
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

static void set_deadline(struct monitor *monitor, bool more)
{
    int64_t nearest = monitor->ask_again < monitor->retry ? monitor->ask_again : monitor->retry;

    if (monitor->poll < nearest)
        nearest = monitor->poll;
    runloop_lock(monitor->loop);
    list_for_each(node, &monitor->watches) {
        const struct watch *watch = container_of(node, struct watch, node);

        if (watch->expires < nearest)
            nearest = watch->expires;
    }
    monitor->source.deadline = nearest;
    if (more)
        runloop_source_due_locked(monitor->loop, &monitor->source);
    runloop_unlock(monitor->loop);
}

/* Puts in doubt what the clock has put in doubt. */
static void check_clock(struct monitor *monitor, int64_t now)
{
    if (monitor->ask_again <= now) {
        monitor->ask_again = NEVER;
        mark_all(monitor);
    }
    if (monitor->poll <= now) {
        monitor->poll = now + POLL_EVERY;
        mark_all(monitor);
    }
    mark_expired(monitor, now);
}

/* Nothing is heard. */
static int poll_run(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, source);
    const int64_t   now = clock_now();

    check_clock(monitor, now);
    plan_to_retry(monitor, now, ask_dirty(monitor) != 0);
    set_deadline(monitor, false);
    return 0;
}

static int monitor_run(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, source);
    struct round    round = { .monitor = monitor };
    const int64_t   now = clock_now();
    int             drain_error = 0, error = 0;
    const unsigned  news = rtnetlink_drain(&monitor->rtnetlink, hear, &round, &drain_error);

    if (!monitor->links_known || (news & RTNETLINK_LOST) != 0) {
        error = rtnetlink_read_links(&monitor->rtnetlink);
        /* A queue that was not read to its end may go on dropping without a word. */
        monitor->links_known = error == 0 && drain_error == 0;
        round.everything = true;
    }
    if (round.everything)
        mark_all(monitor);
    check_clock(monitor, now);
    if (error == 0)
        error = ask_dirty(monitor);
    if (round.unfinished || (news & RTNETLINK_LOST) != 0)
        plan_to_ask_again(monitor, now);
    plan_to_retry(monitor, now, error != 0 || drain_error != 0);
    set_deadline(monitor, (news & RTNETLINK_MORE) != 0);
    return drain_error;
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

static bool is_monitor_of(const struct source *source, const void *netns)
{
    return (source->run == monitor_run || source->run == poll_run) &&
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
                                       .run = error == 0 ? monitor_run : poll_run };
    list_init(&monitor->source.node);
    counted_init(&monitor->source.counted, monitor_free);
    monitor->loop = loop;
    monitor->netns = netns;
    netns_retain(netns);
    list_init(&monitor->watches);
    list_init(&monitor->dirty);
    monitor->ask_again = monitor->retry = NEVER;
    monitor->retry_delay = RETRY_FIRST;
    error = runloop_add_source_locked(loop, &monitor->source);
    counted_release(&monitor->source.counted); /* the loop's reference is the one that lasts */
    if (error == 0)
        *ret = monitor;
    return error;
}

int monitor_watch(SCRunLoopRef loop, struct netns *netns, struct watch *watch)
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
        watch->expires = NEVER;
        watch->asked = false;
        watch->depends_on = (struct dependencies){ 0 };
        list_append(&monitor->watches, &watch->node);
        mark_locked(monitor, watch);
        runloop_source_due_locked(loop, &monitor->source);
    }
    runloop_unlock(loop);
    return error;
}

void monitor_set_questions(SCRunLoopRef loop, struct watch *watch, struct questions *questions)
{
    struct questions *before;

    counted_retain(&questions->counted);
    runloop_lock(loop);
    before = watch->questions;
    watch->questions = questions;
    watch->expires = NEVER;
    if (watch->monitor != NULL) {
        mark_locked(watch->monitor, watch);
        runloop_source_due_locked(loop, &watch->monitor->source);
    }
    runloop_unlock(loop);
    questions_release(before);
}

void monitor_unwatch(SCRunLoopRef loop, struct watch *watch)
{
    struct monitor *monitor;

    runloop_lock(loop);
    monitor = watch->monitor;
    if (monitor != NULL) {
        watch->monitor = NULL;
        list_remove(&watch->node);
        list_remove(&watch->dirty);
        if (list_is_empty(&monitor->watches))
            runloop_remove_source_locked(loop, &monitor->source);
    }
    runloop_unlock(loop);
}

struct monitor_counters monitor_count(SCRunLoopRef loop, const struct watch *watch)
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
