/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: stir everybody for a message that changed nothing. Some networks announce an address
 * anew every few seconds; only a way that differs counts.
 */
#include "surroundings.h"

#include <errno.h>
#include <stdlib.h>

#include "confwatch.h"
#include "lookup.h"
#include "resolvconf.h"

#define SEEK_AGAIN (1 * SECOND) /* for name servers, when the files could not be looked at */

/* A way whose changes matter. */
struct way {
    struct watch watch;
    atomic_ulong answers;
    struct path  path; /* as it was answered last, on the driving thread */
    bool         known;
};

enum { WAY_TO_SERVERS, WAY_BY_DEFAULT, WAY_BY_IPV6, WAYS };

struct surroundings {
    struct source           source; /* of the files; under the loop's lock, as far as runloop.h says */
    SCRunLoopRef            loop;
    struct netns           *netns;
    struct list             residents; /* under the loop's lock, as their number */
    size_t                  population;
    struct confwatch        files;
    struct way              ways[WAYS];
    bool                    changed; /* a way did; on the driving thread */
    bool                    seeks_servers; /* it is not known where they are now; under the loop's lock */
};

static void surroundings_free(struct counted *counted)
{
    struct surroundings *surroundings = container_of(counted, struct surroundings, source.counted);

    confwatch_close(&surroundings->files);
    for (size_t i = 0; i < WAYS; i++)
        questions_release(surroundings->ways[i].watch.questions);
    netns_release(surroundings->netns);
    free(surroundings);
}

static struct surroundings *owner_of(const struct watch *watch)
{
    return container_of(watch->owner, struct surroundings, source.counted);
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

static bool way_answered(struct watch *watch, const struct path *path, unsigned long answers)
{
    struct way          *way = container_of(watch, struct way, watch);
    struct surroundings *surroundings = owner_of(watch);

    (void)answers;
    if (way->known && path_differs(&way->path, path, true)) {
        surroundings->changed = true;
        runloop_lock(surroundings->loop);
        runloop_source_due_locked(surroundings->loop, &surroundings->source);
        runloop_unlock(surroundings->loop);
    }
    way->path = *path;
    way->known = true;
    return true;
}

/* How it is now: what it is later is compared with that. */
static void look_at_way(struct surroundings *surroundings, struct way *way)
{
    way->known = netns_ask(surroundings->netns, way->watch.questions, way->watch.extras, &way->path) == 0;
}

/* The servers may be others now. If that cannot be said, it is tried again, and is a change when it can. */
static void look_for_servers(struct surroundings *surroundings)
{
    struct way       *way = &surroundings->ways[WAY_TO_SERVERS];
    struct questions *questions;
    const int         error = resolvconf_questions(&questions);

    runloop_lock(surroundings->loop);
    surroundings->seeks_servers = error != 0;
    runloop_unlock(surroundings->loop);
    if (error != 0)
        return;
    surroundings->changed = true;
    monitor_ask(surroundings->loop, &way->watch, questions);
    questions_release(questions);
    look_at_way(surroundings, way);
}

/* Takes out the next of `residents` and puts it back where it belongs. */
static struct resident *next_resident(struct surroundings *surroundings, struct list *residents)
{
    struct resident *resident = NULL;
    struct list     *node;

    runloop_lock(surroundings->loop);
    node = list_pop(residents);
    if (node != NULL) {
        resident = container_of(node, struct resident, node);
        counted_retain(resident->owner);
        list_append(&surroundings->residents, node);
    }
    runloop_unlock(surroundings->loop);
    return resident;
}

static bool is_due(struct surroundings *surroundings, struct resident *resident, int64_t now)
{
    bool due;

    runloop_lock(surroundings->loop);
    due = resident->deadline <= now;
    if (due)
        resident->deadline = NEVER;
    runloop_unlock(surroundings->loop);
    return due;
}

static void stir(struct surroundings *surroundings, bool changed)
{
    const int64_t    now = clock_now();
    struct list      residents;
    struct resident *resident;

    list_init(&residents);
    runloop_lock(surroundings->loop);
    list_move(&residents, &surroundings->residents);
    runloop_unlock(surroundings->loop);
    while ((resident = next_resident(surroundings, &residents)) != NULL) {
        if (is_due(surroundings, resident, now) || changed)
            resident->stirred(resident, changed);
        counted_release(resident->owner);
    }
}

static void set_source_deadline_locked(struct surroundings *surroundings)
{
    int64_t nearest = surroundings->seeks_servers ? clock_now() + SEEK_AGAIN : NEVER;

    list_for_each(node, &surroundings->residents) {
        const struct resident *resident = container_of(node, struct resident, node);

        if (resident->deadline < nearest)
            nearest = resident->deadline;
    }
    surroundings->source.deadline = nearest;
}

static int surroundings_run(struct source *source)
{
    struct surroundings *surroundings = container_of(source, struct surroundings, source);
    const bool           files_changed = confwatch_changed(&surroundings->files);
    bool                 changed;

    if (files_changed)
        resolvconf_doubt_hosts();
    if (files_changed || surroundings->seeks_servers)
        look_for_servers(surroundings);
    changed = files_changed || surroundings->changed;
    surroundings->changed = false;
    if (changed)
        lookup_doubt(surroundings->netns);
    stir(surroundings, changed);
    runloop_lock(surroundings->loop);
    set_source_deadline_locked(surroundings);
    runloop_unlock(surroundings->loop);
    return 0;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------------------- */

static bool is_surroundings_of(const struct source *source, const void *netns)
{
    return source->run == surroundings_run && container_of(source, const struct surroundings, source)->netns == netns;
}

static int make_ways(struct surroundings *surroundings)
{
    /* The default path is IPv4's where that is usable; what IPv6 gains or loses shows at an address of global scope. */
    const struct question default_path = { 0 }, ipv6 = { .destination = { AF_INET6, { 0x20, [15] = 1 } } };
    struct questions     *servers = NULL;
    int                   error = resolvconf_questions(&servers);
    struct questions     *questions[WAYS] = { servers,
                                              questions_create(&default_path, 1, kSCNetworkReachabilityReasonNone),
                                              questions_create(&ipv6, 1, kSCNetworkReachabilityReasonNone) };

    for (size_t i = 0; i < WAYS; i++) {
        surroundings->ways[i].watch = (struct watch){ .owner = &surroundings->source.counted,
                                                      .questions = questions[i],
                                                      .extras = SEARCH_SOURCE,
                                                      .answers = &surroundings->ways[i].answers,
                                                      .answered = way_answered };
        list_init(&surroundings->ways[i].watch.node);
        list_init(&surroundings->ways[i].watch.dirty);
        if (questions[i] == NULL && error == 0)
            error = ENOMEM;
    }
    return error;
}

static int surroundings_create(SCRunLoopRef loop, struct netns *netns, struct surroundings **ret)
{
    struct surroundings *surroundings = calloc(1, sizeof *surroundings);
    int                  error;

    if (surroundings == NULL)
        return ENOMEM;
    list_init(&surroundings->residents);
    surroundings->loop = loop;
    surroundings->netns = netns;
    netns_retain(netns);
    confwatch_open(&surroundings->files);
    resolvconf_doubt_hosts();
    surroundings->source = (struct source){ .fd = confwatch_descriptor(&surroundings->files),
                                            .deadline = NEVER,
                                            .run = surroundings_run };
    list_init(&surroundings->source.node);
    counted_init(&surroundings->source.counted, surroundings_free);
    error = make_ways(surroundings);
    for (size_t i = 0; i < WAYS && error == 0; i++) {
        look_at_way(surroundings, &surroundings->ways[i]);
        error = monitor_watch(loop, netns, &surroundings->ways[i].watch);
    }
    *ret = surroundings;
    return error;
}

/* Nobody lives there, or ever did. */
static void surroundings_end(struct surroundings *surroundings)
{
    for (size_t i = 0; i < WAYS; i++)
        monitor_unwatch(surroundings->loop, &surroundings->ways[i].watch);
    counted_release(&surroundings->source.counted);
}

static void settle_locked(struct surroundings *surroundings, struct resident *resident)
{
    resident->surroundings = surroundings;
    resident->deadline = NEVER;
    list_append(&surroundings->residents, &resident->node);
    surroundings->population++;
}

/* Joins those that there are. If there are none, `fresh` become them. */
static int join(SCRunLoopRef loop, struct netns *netns, struct surroundings *fresh, struct resident *resident)
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
        settle_locked(container_of(source, struct surroundings, source), resident);
    runloop_unlock(loop);
    return error;
}

int surroundings_join(SCRunLoopRef loop, struct netns *netns, struct resident *resident)
{
    struct surroundings *fresh = NULL;
    int                  error = join(loop, netns, NULL, resident);

    if (error != 0 || resident->surroundings != NULL)
        return error;
    error = surroundings_create(loop, netns, &fresh);
    if (error == 0)
        error = join(loop, netns, fresh, resident);
    if (fresh != NULL && resident->surroundings != fresh)
        surroundings_end(fresh); /* another thread was quicker, or it failed */
    return error;
}

void surroundings_leave(SCRunLoopRef loop, struct resident *resident)
{
    struct surroundings *surroundings;
    bool                 last = false;

    runloop_lock(loop);
    surroundings = resident->surroundings;
    if (surroundings != NULL) {
        resident->surroundings = NULL;
        list_remove(&resident->node);
        last = --surroundings->population == 0;
        if (last)
            runloop_remove_source_locked(loop, &surroundings->source);
    }
    runloop_unlock(loop);
    if (last)
        surroundings_end(surroundings);
}

bool surroundings_are_quiet(SCRunLoopRef loop, const struct resident *resident)
{
    bool quiet;

    runloop_lock(loop);
    quiet = !resident->surroundings->seeks_servers && confwatch_is_quiet(&resident->surroundings->files);
    runloop_unlock(loop);
    return quiet;
}

struct questions *surroundings_questions(SCRunLoopRef loop, const struct resident *resident)
{
    struct questions *questions;

    runloop_lock(loop);
    questions = resident->surroundings->ways[WAY_TO_SERVERS].watch.questions;
    counted_retain(&questions->counted);
    runloop_unlock(loop);
    return questions;
}

void surroundings_set_deadline(SCRunLoopRef loop, struct resident *resident, int64_t deadline)
{
    runloop_lock(loop);
    if (resident->surroundings != NULL) {
        resident->deadline = deadline;
        if (deadline < resident->surroundings->source.deadline)
            runloop_source_due_locked(loop, &resident->surroundings->source);
    }
    runloop_unlock(loop);
}
