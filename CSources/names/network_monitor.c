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
#include <stdlib.h>

#include "base/clock.h"
#include "names/resolver_files.h"
#include "watch/gateways.h"

#define FILES_INTERVAL (2 * SECOND) /* between checks, if nothing reports changes of the resolver files */

struct network_monitor {
    struct source source; /* the resolver files; runloop.h says what the loop's lock guards */
    SCRunLoopRef loop;
    struct netns *netns;
    struct list watches; /* under the loop's lock */
    size_t watch_count;  /* likewise; collect_watches_locked moves some of them out of the list */
    struct resolver_files files;
    struct path_watch watch;
    struct network_path *evaluated; /* on the driving thread, until `accept` takes it */
    struct network_path *current;   /* under the loop's lock */
    bool servers_unknown;           /* the resolver files could not be read; on the driving thread */
};

static void network_monitor_free(struct counted *counted)
{
    struct network_monitor *network_monitor = container_of(counted, struct network_monitor, source.counted);

    resolver_files_close(&network_monitor->files);
    questions_release(network_monitor->watch.questions);
    network_path_release(network_monitor->evaluated);
    network_path_release(network_monitor->current);
    netns_release(network_monitor->netns);
    free(network_monitor);
}

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

/* Moves the first of `unreported` back to the monitor's watches. Returns it with a reference to its owner, or NULL. */
static struct network_watch *next_network_watch(struct network_monitor *network_monitor, struct list *unreported)
{
    struct network_watch *watch = NULL;
    struct list *node;

    runloop_lock(network_monitor->loop);
    node = list_pop(unreported);
    if (node != NULL) {
        watch = container_of(node, struct network_watch, node);
        watch->reported = true;
        counted_retain(watch->owner);
        list_append(&network_monitor->watches, node);
    }
    runloop_unlock(network_monitor->loop);
    return watch;
}

/* Moves the watches that need a report to `unreported`: all, or those that have had no report and those that repeat. */
static void collect_watches_locked(struct network_monitor *network_monitor, bool all, struct list *unreported)
{
    struct list kept;

    list_init(unreported);
    list_init(&kept);
    while (!list_is_empty(&network_monitor->watches)) {
        struct list *node = list_pop(&network_monitor->watches);
        const struct network_watch *watch = container_of(node, struct network_watch, node);

        list_append(all || !watch->reported || watch->repeats ? unreported : &kept, node);
    }
    list_move(&network_monitor->watches, &kept);
}

/* Consumes the reference. */
static void report_to(struct network_monitor *network_monitor, struct list *unreported, struct network_path *network)
{
    struct network_watch *watch;

    while ((watch = next_network_watch(network_monitor, unreported)) != NULL) {
        watch->changed(watch, network);
        counted_release(watch->owner);
    }
    network_path_release(network);
}

/* Makes `network` the current one and reports it, if it differs. Consumes the reference. */
static void set_current(struct network_monitor *network_monitor, struct network_path *network)
{
    struct network_path *before;
    struct list unreported;

    runloop_lock(network_monitor->loop);
    before = network_monitor->current;
    network_monitor->current = network;
    counted_retain(&network->counted);
    collect_watches_locked(network_monitor, before == NULL || !network_path_equal(before, network), &unreported);
    runloop_unlock(network_monitor->loop);
    network_path_release(before);
    report_to(network_monitor, &unreported, network);
}

/* Reports the current network path to watches that joined after it was found. */
static void report_to_new_watches(struct network_monitor *network_monitor)
{
    struct network_path *network;
    struct list unreported;

    runloop_lock(network_monitor->loop);
    network = network_monitor->current;
    if (network != NULL) {
        counted_retain(&network->counted);
        collect_watches_locked(network_monitor, false, &unreported);
    }
    runloop_unlock(network_monitor->loop);
    if (network != NULL)
        report_to(network_monitor, &unreported, network);
}

/* ---- The watch of the loop's monitor ---------------------------------------------------------------------------- */

static struct network_monitor *monitor_of_watch(struct path_watch *watch)
{
    return container_of(watch, struct network_monitor, watch);
}

static struct counted *owner_of_watch(struct path_watch *watch)
{
    return &monitor_of_watch(watch)->source.counted;
}

static void hold_gateways(struct gateways *gateways, const struct path paths[NETWORK_FAMILIES])
{
    for (size_t i = 0; i < NETWORK_FAMILIES; i++)
        if (paths[i].gateway.family == AF_INET6)
            gateways_hold(gateways, paths[i].index, &paths[i].gateway, false);
}

static int evaluate_network(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                            struct round_cache *cache, const struct questions *questions, struct gateways *gateways,
                            struct path *ret)
{
    struct network_monitor *network_monitor = monitor_of_watch(watch);
    struct network_path *network;
    struct dependencies dependencies;
    const int error = network_path_find(rtnetlink, netns, cache, questions, &network, &dependencies);

    if (error != 0)
        return error;
    network->whole = true;
    runloop_lock(network_monitor->loop);
    hold_gateways(gateways, network->paths);
    for (size_t i = 0; i < network->count; i++)
        hold_gateways(gateways, network->ways[i].paths);
    runloop_unlock(network_monitor->loop);
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
    monitor_set_questions(network_monitor->loop, &network_monitor->watch, questions);
    questions_release(questions);
}

/* Whether the files were read, and an event will report each change. */
static bool waits_for_events(const struct network_monitor *network_monitor)
{
    return !network_monitor->servers_unknown && resolver_files_are_watched(&network_monitor->files);
}

static int network_monitor_run(struct source *source)
{
    struct network_monitor *network_monitor = container_of(source, struct network_monitor, source);

    resolver_files_repair(&network_monitor->files, network_monitor->loop, source);
    if (resolver_files_check(&network_monitor->files) || network_monitor->servers_unknown)
        update_server_questions(network_monitor);
    runloop_lock(network_monitor->loop);
    source->deadline = waits_for_events(network_monitor) ? NEVER : clock_now() + FILES_INTERVAL;
    runloop_unlock(network_monitor->loop);
    report_to_new_watches(network_monitor);
    return 0;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------------------- */

static bool is_network_monitor_of(const struct source *source, const void *netns)
{
    return source->run == network_monitor_run &&
           container_of(source, const struct network_monitor, source)->netns == netns;
}

/* *ret is not NULL after a failure either, unless there is no memory: the caller ends it. */
static int network_monitor_create(SCRunLoopRef loop, struct netns *netns, struct network_monitor **ret)
{
    struct network_monitor *network_monitor = calloc(1, sizeof *network_monitor);
    int error;

    *ret = network_monitor;
    if (network_monitor == NULL)
        return ENOMEM;
    list_init(&network_monitor->watches);
    network_monitor->loop = loop;
    network_monitor->netns = netns;
    netns_retain(netns);
    resolver_files_open(&network_monitor->files);
    network_monitor->source = (struct source){ .descriptor = resolver_files_descriptor(&network_monitor->files),
                                               .edges = resolver_files_mounts(&network_monitor->files),
                                               .deadline = NEVER,
                                               .run = network_monitor_run };
    list_init(&network_monitor->source.node);
    counted_init(&network_monitor->source.counted, network_monitor_free);
    network_monitor->watch = (struct path_watch){ .type = &watch_type, .extras = QUERY_EXPIRY | QUERY_SOURCE };
    error = network_monitor_questions(&network_monitor->watch.questions);
    return error == 0 ? monitor_watch(loop, netns, &network_monitor->watch) : error;
}

/* The monitor is not a source of its loop any more, or never was. */
static void network_monitor_end(struct network_monitor *network_monitor)
{
    monitor_unwatch(network_monitor->loop, &network_monitor->watch);
    counted_release(&network_monitor->source.counted);
}

static void add_network_watch_locked(struct network_monitor *network_monitor, struct network_watch *watch)
{
    watch->monitor = network_monitor;
    watch->reported = false;
    list_append(&network_monitor->watches, &watch->node);
    network_monitor->watch_count++;
    runloop_source_due_locked(network_monitor->loop, &network_monitor->source); /* its first report */
}

/* Adds the watch to the monitor of the loop and namespace. If there is none, `fresh` becomes it; NULL: does nothing. */
static int join_or_add_network_monitor(SCRunLoopRef loop, struct netns *netns, struct network_monitor *fresh,
                                       struct network_watch *watch, struct network_path **ret_current)
{
    struct source *source;
    int error = 0;

    runloop_lock(loop);
    source = runloop_find_source_locked(loop, is_network_monitor_of, netns);
    if (source == NULL && fresh != NULL) {
        error = runloop_add_source_locked(loop, &fresh->source);
        source = error == 0 ? &fresh->source : NULL;
    }
    if (source != NULL) {
        struct network_monitor *network_monitor = container_of(source, struct network_monitor, source);

        add_network_watch_locked(network_monitor, watch);
        *ret_current = network_monitor->current;
        if (*ret_current != NULL)
            counted_retain(&(*ret_current)->counted);
    }
    runloop_unlock(loop);
    return error;
}

/* The network path before the loop's monitor has evaluated it. Does not wait for RTNL. */
static int find_first(struct netns *netns, struct network_path **ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct dependencies ignored;
    struct questions *questions;
    int error = network_monitor_questions(&questions);

    if (error != 0)
        return error;
    error = network_path_find(NULL, netns, &cache, questions, ret, &ignored);
    questions_release(questions);
    round_cache_clear(&cache);
    return error;
}

/* Adds a new monitor, if no other thread has added one first. */
static int add_network_monitor(SCRunLoopRef loop, struct netns *netns, struct network_watch *watch,
                               struct network_path **ret_current)
{
    struct network_monitor *fresh;
    int error = network_monitor_create(loop, netns, &fresh);

    if (error == 0)
        error = join_or_add_network_monitor(loop, netns, fresh, watch, ret_current);
    if (fresh != NULL && watch->monitor != fresh)
        network_monitor_end(fresh);
    return error;
}

int network_monitor_join(SCRunLoopRef loop, struct netns *netns, struct network_watch *watch,
                         struct network_path **ret_first)
{
    struct network_path *first = NULL, *current = NULL;
    int error = join_or_add_network_monitor(loop, netns, NULL, watch, &current);

    /* Before joining: the first round reports what changes after this. */
    if (error == 0 && current == NULL)
        error = find_first(netns, &first);
    if (error == 0 && watch->monitor == NULL)
        error = add_network_monitor(loop, netns, watch, &current);
    *ret_first = current != NULL ? current : first;
    if (current != NULL)
        network_path_release(first);
    if (error == 0)
        return 0;
    network_monitor_leave(loop, watch);
    network_path_release(*ret_first);
    return error;
}

void network_monitor_repeat(SCRunLoopRef loop, struct network_watch *watch)
{
    runloop_lock(loop);
    watch->repeats = true;
    runloop_unlock(loop);
}

void network_monitor_leave(SCRunLoopRef loop, struct network_watch *watch)
{
    struct network_monitor *network_monitor;
    bool last = false;

    runloop_lock(loop);
    network_monitor = watch->monitor;
    if (network_monitor != NULL) {
        watch->monitor = NULL;
        list_remove(&watch->node);
        last = --network_monitor->watch_count == 0;
        if (last)
            runloop_remove_source_locked(loop, &network_monitor->source);
    }
    runloop_unlock(loop);
    if (last)
        network_monitor_end(network_monitor);
}
#endif
