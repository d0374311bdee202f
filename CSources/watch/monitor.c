/* SPDX-License-Identifier: MIT */
/*
 * The monitor of one network namespace for one run loop. It is a source of the loop: it has no thread, and the thread
 * that drives the loop reads the kernel's messages, evaluates, and makes the callbacks.
 *
 * What this file must never do: use the content of a message as the new state (the kernel sends the message before it
 * makes the change), or ignore that messages were lost. A path may be wrong for a moment. It must not stay wrong.
 *
 * Only the thread that drives the loop uses `rtnetlink`. The store is under the loop's lock.
 */
#ifdef __linux__
#include "watch/monitor.h"

#include <errno.h>

#include "base/clock.h"
#include "kernel/routing_policy.h"
#include "route/shared_socket.h"
#include "watch/monitor_state.h"

/* ---- Runs of the source ----------------------------------------------------------------------------------------- */

/* Runs the source if netlink is denied. */
static int monitor_poll(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, service.source);

    round_note_changes(monitor, &(struct changes){ 0 }, NEVER_SENT);
    round_continue(monitor, false);
    return 0;
}

/* Attaches another filter, if messages have come that it would have dropped. */
static void update_filter(struct monitor *monitor)
{
    struct route_filter program;
    bool due;

    if (!monitor->filter.wanted)
        return;
    runloop_lock(monitor->service.loop);
    due = event_filter_prepare(&monitor->filter, &monitor->store, &monitor->gateways, &program);
    runloop_unlock(monitor->service.loop);
    if (due && event_filter_attach(&monitor->filter, &monitor->rtnetlink.events, &program) != 0)
        plan_begin_polling(&monitor->plan);
}

/* Opens other sockets, after the program has closed ours, or if the queue has no end. What a filter drops and what is
 * known came over the sockets before. Returns 0 or an errno. */
static int reopen_sockets(struct monitor *monitor)
{
    struct rtnetlink *rtnetlink = &monitor->rtnetlink;
    const unsigned long overruns = rtnetlink->overruns, queries = rtnetlink->queries;
    int error;

    runloop_lock(monitor->service.loop);
    runloop_source_closing_locked(monitor->service.loop, &monitor->service.source);
    rtnetlink_close(rtnetlink);
    error = netns_open_rtnetlink(monitor->service.netns, RTNETLINK_ALL, rtnetlink);
    rtnetlink->overruns = overruns;
    rtnetlink->queries = queries;
    monitor->filter = (struct event_filter){ 0 };
    if (error == 0)
        error = runloop_source_reopened_locked(monitor->service.loop, &monitor->service.source);
    if (error != 0)
        rtnetlink_close(rtnetlink); /* the next run tries again */
    if (error == NETLINK_DENIED)
        monitor->service.source.run = monitor_poll;
    runloop_unlock(monitor->service.loop);
    if (error == NETLINK_DENIED || rtnetlink->groups_refused)
        plan_begin_polling(&monitor->plan);
    return error;
}

/* Reads the messages, if there are any. Returns what rtnetlink_drain does. */
static unsigned read_messages(struct monitor *monitor, struct news *news, int *ret_error)
{
    unsigned result = RTNETLINK_NOTHING;

    if (monitor->service.source.is_lost || !descriptor_is_ours(&monitor->rtnetlink.requests.socket)) {
        result = RTNETLINK_LOST;
        *ret_error = reopen_sockets(monitor);
    } else if (monitor->service.source.readable) {
        result = rtnetlink_drain(&monitor->rtnetlink, news_note_message, news, ret_error);
        if ((result & RTNETLINK_FULL) != 0)
            *ret_error = reopen_sockets(monitor);
    }
    if (rtnetlink_set_user(&monitor->rtnetlink, runloop_user(monitor->service.loop)))
        news_note_any(news, false);
    return result;
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
    if (error == 0)
        shared_socket_lend_devices(netns_socket(monitor->service.netns), &monitor->rtnetlink.links);
    /* After an overrun the kernel drops messages silently until the queue is read to its end. */
    monitor->links_known = error == 0 && drained;
    changes->dissolve = true;
    return error;
}

/* Rules that cannot be read are not standard. If more watches can share, all are queried again. Returns 0 or an errno.
 */
static int read_rules(struct monitor *monitor, struct changes *changes)
{
    const enum sharing before = monitor->shares;
    bool is_standard;
    int error;

    monitor->shares = SHARING_NONE;
    error = routing_policy_is_standard(&monitor->rtnetlink, &is_standard);
    if (error != 0 && !netlink_is_withheld(error))
        return error;
    monitor->rules_known = true;
    if (is_standard)
        monitor->shares = SHARING_ALL;
    else if (routing_policy_chooses_tables(&monitor->rtnetlink, AF_INET))
        monitor->shares = SHARING_PLAIN_IPV4;
    changes->all = changes->all || monitor->shares > before;
    return 0;
}

/* Changes that interrupt the reading send messages of their own. After another error, the next run tries again. */
static void read_settings(struct monitor *monitor)
{
    const int error = netconf_read(&monitor->rtnetlink, &monitor->settings);

    monitor->settings_known = error == 0 || error == EAGAIN;
}

static bool has_several(struct monitor *monitor)
{
    bool has;

    runloop_lock(monitor->service.loop);
    has = monitor->store.count > 1;
    runloop_unlock(monitor->service.loop);
    return has;
}

/* Reads what sharing and the buckets of links need, if that is due. Until there is a second watch, neither is
 * read, and the only one costs a query less. Returns 0 or an errno. */
static int update_policy(struct monitor *monitor, struct changes *changes)
{
    if (monitor->rules_known && monitor->settings_known)
        return 0;
    if (!has_several(monitor)) {
        monitor->shares = SHARING_NONE;
        return 0;
    }
    if (!monitor->settings_known)
        read_settings(monitor);
    return monitor->rules_known ? 0 : read_rules(monitor, changes);
}

/* What is known of the kernel's state may be outdated. */
static void forget(struct monitor *monitor)
{
    gateways_distrust(&monitor->gateways);
    monitor->equal_routes.known = monitor->route_ends.known = false;
    monitor->rules_known = monitor->settings_known = false;
    monitor->rtnetlink.source_routes = SOURCE_ROUTES_UNKNOWN;
    rtnetlink_forget_rules(&monitor->rtnetlink);
}

/* The stamp of the next change. */
static uint64_t next_change(struct monitor *monitor)
{
    uint64_t next;

    runloop_lock(monitor->service.loop);
    next = monitor->store.now + 1;
    runloop_unlock(monitor->service.loop);
    return next;
}

static int monitor_run(struct source *source)
{
    struct monitor *monitor = container_of(source, struct monitor, service.source);
    struct news news = { .monitor = monitor };
    struct changes *changes = &news.changes;
    int drain_error = 0, error;
    const uint64_t first = next_change(monitor);
    const unsigned drained = read_messages(monitor, &news, &drain_error);
    const bool lost = (drained & RTNETLINK_LOST) != 0, more = (drained & RTNETLINK_MORE) != 0;

    if (drain_error == NETLINK_DENIED)
        return source->run(source); /* a sandbox refuses what it allowed before */
    if (lost)
        forget(monitor);
    error = update_links(monitor, lost, drain_error == 0, changes);
    if (error == 0)
        error = update_policy(monitor, changes);
    if (drain_error != 0 && monitor->round.active)
        changes->dissolve = changes->all = false; /* the retry marks all */
    if (lost && drain_error == 0)
        changes->unfinished = changes->again_dissolve = true;
    changes->failed = error != 0 || drain_error != 0;
    if (changes->unfinished)
        monitor->plan.changed = clock_now();
    round_note_changes(monitor, changes, first);
    if (error == 0)
        round_continue(monitor, more);
    else
        round_end(monitor, more);
    update_filter(monitor);
    return drain_error;
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

static int monitor_open(struct service *service)
{
    struct monitor *monitor = container_of(service, struct monitor, service);
    int error;

    plan_init(&monitor->plan);
    route_ends_init(&monitor->route_ends);
    store_init(&monitor->store);
    monitor->gateways.users = monitor->store.gateway_users;
    monitor->unfinished = NEVER_SENT;
    monitor->rtnetlink = RTNETLINK_CLOSED;
    error = netns_open_rtnetlink(service->netns, RTNETLINK_ALL, &monitor->rtnetlink);
    if (error != 0 && error != NETLINK_DENIED)
        return error;
    if (error != 0 || monitor->rtnetlink.groups_refused)
        plan_begin_polling(&monitor->plan);
    service->source.descriptor = &monitor->rtnetlink.events.socket;
    service->source.run = error == 0 ? monitor_run : monitor_poll;
    return 0;
}

static void monitor_close(struct service *service)
{
    struct monitor *monitor = container_of(service, struct monitor, service);

    rtnetlink_close(&monitor->rtnetlink);
    route_ends_clear(&monitor->route_ends);
    round_cache_clear(&monitor->cache);
}

static void run_if_due_locked(struct monitor *monitor)
{
    if (store_is_due(&monitor->store))
        runloop_source_due_locked(monitor->service.loop, &monitor->service.source);
}

static int add_watch_locked(struct service *service, void *user)
{
    struct monitor *monitor = container_of(service, struct monitor, service);
    struct path_watch *watch = user;
    const int error = store_add(&monitor->store, watch);

    if (error != 0)
        return error;
    watch->monitor = monitor;
    run_if_due_locked(monitor);
    return 0;
}

static struct service *remove_watch_locked(void *user)
{
    struct path_watch *watch = user;
    struct monitor *monitor = watch->monitor;

    if (monitor == NULL)
        return NULL;
    watch->monitor = NULL;
    store_remove(&monitor->store, watch);
    run_if_due_locked(monitor);
    return &monitor->service;
}

static const struct service_type monitor_type = { .size = sizeof(struct monitor),
                                                  .open = monitor_open,
                                                  .add_locked = add_watch_locked,
                                                  .remove_locked = remove_watch_locked,
                                                  .close = monitor_close };

int monitor_watch(SCRunLoopRef loop, struct netns *netns, struct path_watch *watch)
{
    return service_join(loop, netns, &monitor_type, watch);
}

void monitor_unwatch(SCRunLoopRef loop, struct path_watch *watch)
{
    service_leave(loop, &monitor_type, watch);
}

int monitor_isolate(SCRunLoopRef loop, struct path_watch *watch)
{
    int error = 0;

    runloop_lock(loop);
    if (watch->monitor != NULL) {
        error = store_isolate(&watch->monitor->store, watch);
        run_if_due_locked(watch->monitor);
    }
    runloop_unlock(loop);
    return error;
}

/* The path that is being found is not the last one: another evaluation follows. */
static void set_outdated_locked(SCRunLoopRef loop, struct path_watch *watch)
{
    atomic_store(&watch->outdated, true);
    if (watch->monitor != NULL)
        runloop_source_due_locked(loop, &watch->monitor->service.source);
}

void monitor_evaluate_again(SCRunLoopRef loop, struct path_watch *watch)
{
    runloop_lock(loop);
    if (watch->monitor != NULL)
        store_evaluate_again(&watch->monitor->store, watch);
    set_outdated_locked(loop, watch);
    runloop_unlock(loop);
}

void monitor_set_questions(SCRunLoopRef loop, struct path_watch *watch, struct questions *questions)
{
    struct questions *before;

    if (questions != NULL)
        counted_retain(&questions->counted);
    runloop_lock(loop);
    before = watch->questions;
    watch->questions = questions;
    if (watch->monitor != NULL)
        store_replace_questions(&watch->monitor->store, watch);
    set_outdated_locked(loop, watch);
    runloop_unlock(loop);
    questions_release(before);
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
#endif
