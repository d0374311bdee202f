/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: stir everybody for a message that changed nothing. Some networks announce an address
 * anew every few seconds; only a way that differs counts.
 */
#include "names/name_monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/list.h"
#include "names/lookup.h"
#include "names/resolvconf.h"
#include "names/resolver_files.h"

#define SEEK_AGAIN (1 * SECOND) /* for name servers, when the files could not be looked at */

/* A way whose changes matter. */
struct way {
    struct watch watch;
    atomic_ulong answers;
    struct path  path; /* as it was answered last, on the driving thread */
    bool         known;
};

enum { WAY_TO_SERVERS, WAY_BY_DEFAULT, WAY_BY_IPV6, WAYS };

struct name_monitor {
    struct source         source; /* of the files; under the loop's lock, as far as runloop.h says */
    SCRunLoopRef          loop;
    struct netns         *netns;
    struct list           residents; /* under the loop's lock, as their number */
    size_t                population;
    struct resolver_files files;
    struct way            ways[WAYS];
    bool                  changed;       /* a way did; on the driving thread */
    bool                  seeks_servers; /* it is not known where they are now; under the loop's lock */
};

static void surroundings_free(struct counted *counted)
{
    struct name_monitor *name_monitor = container_of(counted, struct name_monitor, source.counted);

    resolver_files_close(&name_monitor->files);
    for (size_t i = 0; i < WAYS; i++)
        questions_release(name_monitor->ways[i].watch.questions);
    netns_release(name_monitor->netns);
    free(name_monitor);
}

static struct name_monitor *owner_of(const struct watch *watch)
{
    return container_of(watch->owner, struct name_monitor, source.counted);
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

static bool way_answered(struct watch *watch, const struct path *path, unsigned long answers)
{
    struct way          *way = container_of(watch, struct way, watch);
    struct name_monitor *name_monitor = owner_of(watch);

    (void)answers;
    if (way->known && path_differs(&way->path, path, true)) {
        name_monitor->changed = true;
        runloop_lock(name_monitor->loop);
        runloop_source_due_locked(name_monitor->loop, &name_monitor->source);
        runloop_unlock(name_monitor->loop);
    }
    way->path = *path;
    way->known = true;
    return true;
}

/* How it is now: what it is later is compared with that. */
static void look_at_way(struct name_monitor *name_monitor, struct way *way)
{
    way->known = netns_evaluate(name_monitor->netns, way->watch.questions, way->watch.extras, &way->path) == 0;
}

/* The servers may be others now. If that cannot be said, it is tried again, and is a change when it can. */
static void look_for_servers(struct name_monitor *name_monitor)
{
    struct way       *way = &name_monitor->ways[WAY_TO_SERVERS];
    struct questions *questions;
    const int         error = resolvconf_pending_questions(&questions);

    runloop_lock(name_monitor->loop);
    name_monitor->seeks_servers = error != 0;
    runloop_unlock(name_monitor->loop);
    if (error != 0)
        return;
    name_monitor->changed = true;
    monitor_set_questions(name_monitor->loop, &way->watch, questions);
    questions_release(questions);
    look_at_way(name_monitor, way);
}

/* Takes out the next of `residents` and puts it back where it belongs. */
static struct name_watch *next_resident(struct name_monitor *name_monitor, struct list *residents)
{
    struct name_watch *name_watch = NULL;
    struct list       *node;

    runloop_lock(name_monitor->loop);
    node = list_pop(residents);
    if (node != NULL) {
        name_watch = container_of(node, struct name_watch, node);
        counted_retain(name_watch->owner);
        list_append(&name_monitor->residents, node);
    }
    runloop_unlock(name_monitor->loop);
    return name_watch;
}

static bool is_due(struct name_monitor *name_monitor, struct name_watch *name_watch, int64_t now)
{
    bool due;

    runloop_lock(name_monitor->loop);
    due = name_watch->deadline <= now;
    if (due)
        name_watch->deadline = NEVER;
    runloop_unlock(name_monitor->loop);
    return due;
}

static void stir(struct name_monitor *name_monitor, bool changed)
{
    const int64_t      now = clock_now();
    struct list        residents;
    struct name_watch *name_watch;

    list_init(&residents);
    runloop_lock(name_monitor->loop);
    list_move(&residents, &name_monitor->residents);
    runloop_unlock(name_monitor->loop);
    while ((name_watch = next_resident(name_monitor, &residents)) != NULL) {
        if (is_due(name_monitor, name_watch, now) || changed)
            name_watch->stirred(name_watch, changed);
        counted_release(name_watch->owner);
    }
}

static void set_source_deadline_locked(struct name_monitor *name_monitor)
{
    int64_t nearest = name_monitor->seeks_servers ? clock_now() + SEEK_AGAIN : NEVER;

    list_for_each(node, &name_monitor->residents) {
        const struct name_watch *name_watch = container_of(node, struct name_watch, node);

        if (name_watch->deadline < nearest)
            nearest = name_watch->deadline;
    }
    name_monitor->source.deadline = nearest;
}

static int surroundings_run(struct source *source)
{
    struct name_monitor *name_monitor = container_of(source, struct name_monitor, source);
    const bool           files_changed = resolver_files_changed(&name_monitor->files);
    bool                 changed;

    if (files_changed)
        resolvconf_doubt_hosts();
    if (files_changed || name_monitor->seeks_servers)
        look_for_servers(name_monitor);
    changed = files_changed || name_monitor->changed;
    name_monitor->changed = false;
    if (changed)
        lookup_mark_stale(name_monitor->netns);
    stir(name_monitor, changed);
    runloop_lock(name_monitor->loop);
    set_source_deadline_locked(name_monitor);
    runloop_unlock(name_monitor->loop);
    return 0;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------------------- */

static bool is_surroundings_of(const struct source *source, const void *netns)
{
    return source->run == surroundings_run && container_of(source, const struct name_monitor, source)->netns == netns;
}

static int make_ways(struct name_monitor *name_monitor)
{
    /* The default path is IPv4's where that is usable; what IPv6 gains or loses shows at an address of global scope. */
    const struct question default_path = { 0 }, ipv6 = { .destination = { AF_INET6, { 0x20, [15] = 1 } } };
    struct questions     *servers = NULL;
    int                   error = resolvconf_pending_questions(&servers);
    struct questions *questions[WAYS] = { servers, questions_create(&default_path, 1, kSCNetworkReachabilityReasonNone),
                                          questions_create(&ipv6, 1, kSCNetworkReachabilityReasonNone) };

    for (size_t i = 0; i < WAYS; i++) {
        name_monitor->ways[i].watch = (struct watch){ .owner = &name_monitor->source.counted,
                                                      .questions = questions[i],
                                                      .extras = QUERY_SOURCE,
                                                      .answers = &name_monitor->ways[i].answers,
                                                      .answered = way_answered };
        list_init(&name_monitor->ways[i].watch.node);
        list_init(&name_monitor->ways[i].watch.dirty);
        if (questions[i] == NULL && error == 0)
            error = ENOMEM;
    }
    return error;
}

static int surroundings_create(SCRunLoopRef loop, struct netns *netns, struct name_monitor **ret)
{
    struct name_monitor *name_monitor = calloc(1, sizeof *name_monitor);
    int                  error;

    if (name_monitor == NULL)
        return ENOMEM;
    list_init(&name_monitor->residents);
    name_monitor->loop = loop;
    name_monitor->netns = netns;
    netns_retain(netns);
    resolver_files_open(&name_monitor->files);
    resolvconf_doubt_hosts();
    name_monitor->source = (struct source){ .fd = resolver_files_descriptor(&name_monitor->files),
                                            .deadline = NEVER,
                                            .run = surroundings_run };
    list_init(&name_monitor->source.node);
    counted_init(&name_monitor->source.counted, surroundings_free);
    error = make_ways(name_monitor);
    for (size_t i = 0; i < WAYS && error == 0; i++) {
        look_at_way(name_monitor, &name_monitor->ways[i]);
        error = monitor_watch(loop, netns, &name_monitor->ways[i].watch);
    }
    *ret = name_monitor;
    return error;
}

/* Nobody lives there, or ever did. */
static void surroundings_end(struct name_monitor *name_monitor)
{
    for (size_t i = 0; i < WAYS; i++)
        monitor_unwatch(name_monitor->loop, &name_monitor->ways[i].watch);
    counted_release(&name_monitor->source.counted);
}

static void settle_locked(struct name_monitor *name_monitor, struct name_watch *name_watch)
{
    name_watch->monitor = name_monitor;
    name_watch->deadline = NEVER;
    list_append(&name_monitor->residents, &name_watch->node);
    name_monitor->population++;
}

/* Joins those that there are. If there are none, `fresh` become them. */
static int join(SCRunLoopRef loop, struct netns *netns, struct name_monitor *fresh, struct name_watch *name_watch)
{
    struct source *source;
    int            error = 0;

    runloop_lock(loop);
    source = runloop_find_source_locked(loop, is_surroundings_of, netns);
    if (source == NULL && fresh != NULL) {
        error = runloop_add_source_locked(loop, &fresh->source);
        source = error == 0 ? &fresh->source : NULL;
    }
    if (source != NULL)
        settle_locked(container_of(source, struct name_monitor, source), name_watch);
    runloop_unlock(loop);
    return error;
}

int name_monitor_join(SCRunLoopRef loop, struct netns *netns, struct name_watch *name_watch)
{
    struct name_monitor *fresh = NULL;
    int                  error = join(loop, netns, NULL, name_watch);

    if (error != 0 || name_watch->monitor != NULL)
        return error;
    error = surroundings_create(loop, netns, &fresh);
    if (error == 0)
        error = join(loop, netns, fresh, name_watch);
    if (fresh != NULL && name_watch->monitor != fresh)
        surroundings_end(fresh); /* another thread was quicker, or it failed */
    return error;
}

void name_monitor_leave(SCRunLoopRef loop, struct name_watch *name_watch)
{
    struct name_monitor *name_monitor;
    bool                 last = false;

    runloop_lock(loop);
    name_monitor = name_watch->monitor;
    if (name_monitor != NULL) {
        name_watch->monitor = NULL;
        list_remove(&name_watch->node);
        last = --name_monitor->population == 0;
        if (last)
            runloop_remove_source_locked(loop, &name_monitor->source);
    }
    runloop_unlock(loop);
    if (last)
        surroundings_end(name_monitor);
}

bool name_monitor_files_are_unchanged(SCRunLoopRef loop, const struct name_watch *name_watch)
{
    bool quiet;

    runloop_lock(loop);
    quiet = !name_watch->monitor->seeks_servers && resolver_files_are_unchanged(&name_watch->monitor->files);
    runloop_unlock(loop);
    return quiet;
}

struct questions *name_monitor_pending_questions(SCRunLoopRef loop, const struct name_watch *name_watch)
{
    struct questions *questions;

    runloop_lock(loop);
    questions = name_watch->monitor->ways[WAY_TO_SERVERS].watch.questions;
    counted_retain(&questions->counted);
    runloop_unlock(loop);
    return questions;
}

void name_monitor_set_deadline(SCRunLoopRef loop, struct name_watch *name_watch, int64_t deadline)
{
    runloop_lock(loop);
    if (name_watch->monitor != NULL) {
        name_watch->deadline = deadline;
        if (deadline < name_watch->monitor->source.deadline)
            runloop_source_due_locked(loop, &name_watch->monitor->source);
    }
    runloop_unlock(loop);
}
