/* SPDX-License-Identifier: MIT */
/*
 * A source of the run loop that watches the resolver files, and a watch of the loop's monitor for the default paths and
 * the paths to the name servers. All network watches of a loop and namespace share them.
 *
 * What this file must never do: report a message that changed nothing. Network paths are compared.
 */
#ifdef __linux__
#include "names/network_monitor.h"

#include <errno.h>

#include "base/clock.h"
#include "names/resolver_files.h"

#define FILES_INTERVAL (2 * SECOND) /* between checks, if nothing reports changes of the resolver files */

struct network_monitor {
    struct service service; /* its source: the resolver files */
    struct list watches;    /* under the loop's lock; collect_watches_locked moves some of them out of the list */
    struct resolver_files files;
    struct path_watch watch;
    struct network_path *evaluated; /* on the driving thread, until `accept` takes it */
    struct network_path *current;   /* under the loop's lock; not whole before the first evaluation */
    bool servers_unknown;           /* the resolver files could not be read; on the driving thread */
};

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

/* Moves the watches that need a report to `unreported`: all, or those that have had no report and those that repeat. */
static void collect_watches_locked(struct network_monitor *network_monitor, bool all, struct list *unreported)
{
    struct list kept;

    list_init(unreported);
    list_init(&kept);
    while (!list_is_empty(&network_monitor->watches)) {
        struct list *node = list_pop(&network_monitor->watches);
        struct network_watch *watch = container_of(node, struct network_watch, user.node);
        const bool due = all || !watch->reported || watch->repeats;

        list_append(due ? unreported : &kept, node);
        watch->reported = true;
    }
    list_move(&network_monitor->watches, &kept);
}

/* Consumes the reference. */
static void report_to(struct network_monitor *network_monitor, struct list *unreported, struct network_path *network)
{
    struct service_user *user;

    while ((user = service_next_user(&network_monitor->service, unreported, &network_monitor->watches)) != NULL) {
        struct network_watch *watch = container_of(user, struct network_watch, user);

        watch->changed(watch, network);
        counted_release(user->owner);
    }
    network_path_release(network);
}

/* Makes `network` the current one and reports it, if it differs. Consumes the reference. */
static void set_current(struct network_monitor *network_monitor, struct network_path *network)
{
    struct network_path *before;
    struct list unreported;

    runloop_lock(network_monitor->service.loop);
    before = network_monitor->current;
    network_monitor->current = network;
    counted_retain(&network->counted);
    collect_watches_locked(network_monitor, !network_path_equal(before, network), &unreported);
    runloop_unlock(network_monitor->service.loop);
    network_path_release(before);
    report_to(network_monitor, &unreported, network);
}

/* Reports the current network path to watches that joined after it was found. */
static void report_to_new_watches(struct network_monitor *network_monitor)
{
    struct network_path *network = network_monitor->current; /* only this thread replaces it */
    struct list unreported;

    if (!network->whole)
        return;
    runloop_lock(network_monitor->service.loop);
    counted_retain(&network->counted);
    collect_watches_locked(network_monitor, false, &unreported);
    runloop_unlock(network_monitor->service.loop);
    report_to(network_monitor, &unreported, network);
}

/* ---- The watch of the loop's monitor ---------------------------------------------------------------------------- */

static struct network_monitor *monitor_of_watch(struct path_watch *watch)
{
    return container_of(watch, struct network_monitor, watch);
}

static struct counted *owner_of_watch(struct path_watch *watch)
{
    return &monitor_of_watch(watch)->service.source.counted;
}

static int evaluate_network(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                            struct round_cache *cache, const struct questions *questions, struct path *ret)
{
    struct network_monitor *network_monitor = monitor_of_watch(watch);
    struct network_path *network;
    struct dependencies dependencies = { 0 };
    const int error = rtnetlink != NULL
                          ? network_path_find(rtnetlink, netns, cache, questions, &network, &dependencies)
                          : network_path_query(netns, questions, &network); /* no message says which links there are */

    if (error != 0)
        return error;
    network->whole = true;
    network_path_release(network_monitor->evaluated);
    network_monitor->evaluated = network;
    *ret = network->paths[NETWORK_IPV4];
    ret->dependencies = dependencies;
    return 0;
}

static bool network_evaluated(struct path_watch *watch, const struct path *path)
{
    struct network_monitor *network_monitor = monitor_of_watch(watch);
    struct network_path *network = network_monitor->evaluated;

    (void)path;
    network_monitor->evaluated = NULL;
    set_current(network_monitor, network);
    return true;
}

static const struct path_watch_type watch_type = { .owner = owner_of_watch,
                                                   .evaluate = evaluate_network,
                                                   .accept = network_evaluated };

/* ---- The resolver files ----------------------------------------------------------------------------------------- */

int network_monitor_questions(struct questions **ret)
{
    struct name_server servers[CONFFILE_SERVERS];
    size_t count = 0;
    const int error = resolvconf_servers(servers, &count);

    if (error != 0)
        return error;
    *ret = network_path_questions(servers, count);
    return *ret == NULL ? ENOMEM : 0;
}

/* If the files cannot be read, the next check tries again. */
static void update_server_questions(struct network_monitor *network_monitor)
{
    struct questions *questions;

    network_monitor->servers_unknown = network_monitor_questions(&questions) != 0;
    if (network_monitor->servers_unknown)
        return;
    monitor_set_questions(network_monitor->service.loop, &network_monitor->watch, questions);
    questions_release(questions);
}

/* Whether the files were read, and an event will report each change. */
static bool waits_for_events(const struct network_monitor *network_monitor)
{
    return !network_monitor->servers_unknown && resolver_files_are_watched(&network_monitor->files);
}

static int network_monitor_run(struct source *source)
{
    struct network_monitor *network_monitor = container_of(source, struct network_monitor, service.source);

    const int64_t now = clock_now();

    resolver_files_repair(&network_monitor->files, network_monitor->service.loop, source);
    if (resolver_files_check(&network_monitor->files, now) || network_monitor->servers_unknown)
        update_server_questions(network_monitor);
    runloop_lock(network_monitor->service.loop);
    source->deadline = waits_for_events(network_monitor) ? NEVER : now + FILES_INTERVAL;
    source->deadline = clock_earlier(source->deadline, network_monitor->files.due);
    runloop_unlock(network_monitor->service.loop);
    report_to_new_watches(network_monitor);
    return 0;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------------------- */

/* The network path before the loop's monitor has evaluated it. Does not wait for RTNL. */
static int find_first(const struct network_monitor *network_monitor, struct network_path **ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct dependencies ignored;
    struct questions *questions;
    int error;

    runloop_lock(network_monitor->service.loop); /* the loop's thread can replace them */
    questions = network_monitor->watch.questions;
    counted_retain(&questions->counted);
    runloop_unlock(network_monitor->service.loop);
    error = network_path_find(NULL, network_monitor->service.netns, &cache, questions, ret, &ignored);
    questions_release(questions);
    round_cache_end(&cache);
    return error;
}

static int network_monitor_open(struct service *service)
{
    struct network_monitor *network_monitor = container_of(service, struct network_monitor, service);
    int error;

    list_init(&network_monitor->watches);
    resolver_files_open(&network_monitor->files, &service->source);
    service->source.run = network_monitor_run;
    network_monitor->watch = (struct path_watch){ .type = &watch_type, .extras = QUERY_EXPIRY | QUERY_SOURCE };
    error = network_monitor_questions(&network_monitor->watch.questions);
    if (error == 0)
        error = find_first(network_monitor, &network_monitor->current); /* the first round reports later changes */
    return error == 0 ? monitor_watch(service->loop, service->netns, &network_monitor->watch) : error;
}

static void network_monitor_end(struct service *service)
{
    monitor_unwatch(service->loop, &container_of(service, struct network_monitor, service)->watch);
}

static void network_monitor_close(struct service *service)
{
    struct network_monitor *network_monitor = container_of(service, struct network_monitor, service);

    resolver_files_close(&network_monitor->files);
    questions_release(network_monitor->watch.questions);
    network_path_release(network_monitor->evaluated);
    network_path_release(network_monitor->current);
}

static int add_network_watch_locked(struct service *service, void *user)
{
    struct network_watch *watch = user;

    watch->monitor = container_of(service, struct network_monitor, service);
    watch->reported = false;
    list_append(&watch->monitor->watches, &watch->user.node);
    runloop_source_due_locked(service->loop, &service->source); /* its first report */
    return 0;
}

static struct service *remove_network_watch_locked(void *user)
{
    struct network_watch *watch = user;
    struct network_monitor *network_monitor = watch->monitor;

    if (network_monitor == NULL)
        return NULL;
    watch->monitor = NULL;
    list_remove(&watch->user.node);
    return &network_monitor->service;
}

static const struct service_type network_monitor_type = { .size = sizeof(struct network_monitor),
                                                          .open = network_monitor_open,
                                                          .add_locked = add_network_watch_locked,
                                                          .remove_locked = remove_network_watch_locked,
                                                          .end = network_monitor_end,
                                                          .close = network_monitor_close };

int network_monitor_join(SCRunLoopRef loop, struct netns *netns, struct network_watch *watch,
                         struct network_path **ret_first)
{
    int error = service_join(loop, netns, &network_monitor_type, watch);
    bool is_old;

    if (error != 0)
        return error;
    runloop_lock(loop);
    *ret_first = watch->monitor->current;
    is_old = !(*ret_first)->whole && watch->monitor->service.users > 1; /* found earlier, for another user */
    counted_retain(&(*ret_first)->counted);
    runloop_unlock(loop);
    if (!is_old)
        return 0;
    network_path_release(*ret_first);
    error = find_first(watch->monitor, ret_first);
    if (error != 0)
        network_monitor_leave(loop, watch);
    return error;
}

void network_monitor_leave(SCRunLoopRef loop, struct network_watch *watch)
{
    service_leave(loop, &network_monitor_type, watch);
}

void network_monitor_repeat(SCRunLoopRef loop, struct network_watch *watch)
{
    runloop_lock(loop);
    watch->repeats = true;
    runloop_unlock(loop);
}
#endif
