/* SPDX-License-Identifier: MIT */
/*
 * A source of the run loop that watches the resolver files, and the paths that affect names.
 *
 * What this file must never do: report a message that changed nothing. Some networks announce an address again every
 * few seconds. So the paths are compared; only a path that differs counts.
 */
#ifdef __linux__
#include "names/name_monitor.h"

#include <errno.h>

#include "base/clock.h"
#include "names/lookup.h"
#include "names/resolvconf.h"
#include "names/resolver_files.h"
#include "route/shared_socket.h"

#define SERVERS_RETRY (1 * SECOND) /* when the resolver files cannot be read */

/* ---- Pauses between look-ups ------------------------------------------------------------------------------------ */

#define PAUSE_FIRST (100 * MILLISECOND) /* short: a network comes up in steps (link, address, route) */
#define PAUSE_LAST  (60 * SECOND)
#define QUIET       (30 * SECOND) /* without a change */

/*
 * The first change starts look-ups at once, and then a pause begins. A change during the pause counts at its end:
 * look-ups must start after the last one. Each pause is twice as long as the previous one. After a quiet time, pauses
 * are short again. Without pauses, a gateway that flaps ten times a second, or forged router advertisements, would
 * start as many look-ups of every name. All zero: no change yet.
 */
struct change_pause {
    int64_t end;         /* of the latest pause */
    int64_t length;      /* of the next pause; 0: there was no change yet */
    int64_t last_change; /* if there was one */
    bool noted;          /* a change counts at the end of the pause */
};

/* Something changed. */
static void change_pause_note(struct change_pause *pause, int64_t now)
{
    if (pause->length == 0 || now - pause->last_change >= QUIET) {
        pause->length = PAUSE_FIRST;
        pause->end = now;
    }
    pause->last_change = now;
    pause->noted = true;
}

/* Returns when look-ups must start because of a change, or NEVER. */
static int64_t change_pause_due(const struct change_pause *pause)
{
    return pause->noted ? pause->end : NEVER;
}

/* Begins a pause if a change is noted: look-ups of all names start now. */
static void change_pause_begin(struct change_pause *pause, int64_t now)
{
    if (!pause->noted)
        return;
    pause->noted = false;
    pause->end = now + pause->length;
    pause->length = 2 * pause->length < PAUSE_LAST ? 2 * pause->length : PAUSE_LAST;
}

/* ---- The monitor ------------------------------------------------------------------------------------------------ */

/* A path whose changes affect names. */
struct watched_path {
    struct name_monitor *name_monitor;
    struct path_watch watch;
    struct path path; /* the last evaluation; on the driving thread */
    bool known;
};

/* The last one is the default path again, with what a target needs of it. Its changes do not affect names. */
enum { PATH_TO_SERVERS, PATH_DEFAULT, PATH_IPV6, PATH_OF_FOLLOWERS, PATHS };

/* Kinds of changes. A network that flaps does not delay the effect of an edited file. */
enum change_kind { CHANGE_OF_FILES, CHANGE_OF_PATHS, CHANGES };

struct name_monitor {
    struct service service;   /* its source: the resolver files */
    struct list name_watches; /* that do not follow the default path; under the loop's lock */
    struct list followers;    /* that have its last outcome; likewise */
    struct list fresh;        /* followers that have not; likewise */
    struct heap deadlines;    /* of the watches; likewise */
    struct resolver_files files;
    struct watched_path paths[PATHS];
    struct change_pause pauses[CHANGES]; /* on the driving thread */
    bool servers_unknown;                /* the resolver files could not be read; on the driving thread */
};

/* ---- Followers of the default path ------------------------------------------------------------------------------ */

/* The default path was evaluated. If it is as before, only new followers need it. */
static void call_followers(struct name_monitor *name_monitor, const struct path *path, bool all)
{
    struct list unreported;
    struct service_user *user;

    list_init(&unreported);
    runloop_lock(name_monitor->service.loop);
    list_append_all(&unreported, &name_monitor->fresh);
    if (all)
        list_append_all(&unreported, &name_monitor->followers);
    runloop_unlock(name_monitor->service.loop);
    while ((user = service_next_user(&name_monitor->service, &unreported, &name_monitor->followers)) != NULL) {
        struct name_watch *name_watch = container_of(user, struct name_watch, user);

        name_watch->type->default_path(name_watch, path);
        counted_release(user->owner);
    }
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

static void note_change(struct name_monitor *name_monitor, enum change_kind kind, int64_t now)
{
    change_pause_note(&name_monitor->pauses[kind], now);
    lookup_mark_outdated(name_monitor->service.netns, LOOKUP_IN_PAUSE);
}

static bool watched_path_evaluated(struct path_watch *watch, const struct path *path)
{
    struct watched_path *watched = container_of(watch, struct watched_path, watch);
    struct name_monitor *name_monitor = watched->name_monitor;
    const struct outcome before = path_outcome(&watched->path), now = path_outcome(path);

    if (watched == &name_monitor->paths[PATH_OF_FOLLOWERS]) {
        call_followers(name_monitor, path, !watched->known || outcome_differs(&before, &now));
    } else if (watched->known && path_differs(&watched->path, path)) {
        note_change(name_monitor, CHANGE_OF_PATHS, clock_now());
        runloop_lock(name_monitor->service.loop);
        runloop_source_due_locked(name_monitor->service.loop, &name_monitor->service.source);
        runloop_unlock(name_monitor->service.loop);
    }
    watched->path = *path;
    watched->known = true;
    return true;
}

static struct counted *owner_of_watch(struct path_watch *watch)
{
    return &container_of(watch, struct watched_path, watch)->name_monitor->service.source.counted;
}

static const struct path_watch_type watch_type = { .owner = owner_of_watch, .accept = watched_path_evaluated };

/* Later evaluations are compared with this one. */
static void evaluate_watched_path(struct name_monitor *name_monitor, struct watched_path *watched)
{
    const struct path_watch *watch = &watched->watch;

    watched->known = shared_socket_evaluate(netns_socket(name_monitor->service.netns), watch->questions,
                                            watch->extras & QUERY_SOURCE, &watched->path) == 0;
}

/* Reads which name servers there are now, and watches the path to them. If the resolver files cannot be read, a later
 * pass tries again; when that succeeds, it counts as a change. Returns whether they could be read. */
static bool update_servers(struct name_monitor *name_monitor)
{
    struct watched_path *watched = &name_monitor->paths[PATH_TO_SERVERS];
    struct questions *questions;
    const int error = resolvconf_server_questions(&questions);

    name_monitor->servers_unknown = error != 0;
    if (error != 0)
        return false;
    monitor_set_questions(name_monitor->service.loop, &watched->watch, questions);
    questions_release(questions);
    evaluate_watched_path(name_monitor, watched);
    return true;
}

static void note_changed_files(struct name_monitor *name_monitor, int64_t now)
{
    bool changed = resolver_files_check(&name_monitor->files, now);

    if (changed || name_monitor->servers_unknown)
        changed = update_servers(name_monitor) || changed;
    if (changed)
        note_change(name_monitor, CHANGE_OF_FILES, now);
    else if (name_monitor->files.due != NEVER)
        lookup_mark_outdated(name_monitor->service.netns, LOOKUP_IN_PAUSE);
}

/* When the changes must be reported, or NEVER. */
static int64_t changes_due(const struct name_monitor *name_monitor)
{
    return clock_earlier(change_pause_due(&name_monitor->pauses[CHANGE_OF_FILES]),
                         change_pause_due(&name_monitor->pauses[CHANGE_OF_PATHS]));
}

/* ---- Calls ------------------------------------------------------------------------------------------------------ */

static void call_list(struct name_monitor *name_monitor, struct list *list)
{
    struct list unreported;
    struct service_user *user;

    list_init(&unreported);
    runloop_lock(name_monitor->service.loop);
    list_move(&unreported, list);
    runloop_unlock(name_monitor->service.loop);
    while ((user = service_next_user(&name_monitor->service, &unreported, list)) != NULL) {
        struct name_watch *name_watch = container_of(user, struct name_watch, user);

        name_watch->type->due(name_watch, true);
        counted_release(user->owner);
    }
}

static void call_all_watches(struct name_monitor *name_monitor)
{
    call_list(name_monitor, &name_monitor->name_watches);
    call_list(name_monitor, &name_monitor->followers);
    call_list(name_monitor, &name_monitor->fresh);
}

static void report_due_changes(struct name_monitor *name_monitor, int64_t now)
{
    if (changes_due(name_monitor) > now)
        return;
    lookup_mark_outdated(name_monitor->service.netns, change_pause_due(&name_monitor->pauses[CHANGE_OF_FILES]) <= now
                                                          ? LOOKUP_OVERTAKEN
                                                          : LOOKUP_OUTDATED);
    for (size_t i = 0; i < CHANGES; i++)
        change_pause_begin(&name_monitor->pauses[i], now);
    call_all_watches(name_monitor);
}

/* Clears a deadline that has passed. Returns its watch with a reference to the owner. NULL: no deadline has passed. */
static struct name_watch *next_due_watch(struct name_monitor *name_monitor, int64_t now)
{
    struct name_watch *name_watch = NULL;

    runloop_lock(name_monitor->service.loop);
    if (heap_nearest(&name_monitor->deadlines) <= now) {
        name_watch = container_of(heap_first(&name_monitor->deadlines), struct name_watch, deadline);
        heap_set(&name_monitor->deadlines, &name_watch->deadline, NEVER);
        counted_retain(name_watch->user.owner);
    }
    runloop_unlock(name_monitor->service.loop);
    return name_watch;
}

static void call_due_watches(struct name_monitor *name_monitor, int64_t now)
{
    struct name_watch *name_watch;

    while ((name_watch = next_due_watch(name_monitor, now)) != NULL) {
        name_watch->type->due(name_watch, false);
        counted_release(name_watch->user.owner);
    }
}

static void update_source_deadline(struct name_monitor *name_monitor, int64_t now)
{
    int64_t nearest = changes_due(name_monitor);

    if (name_monitor->servers_unknown)
        nearest = clock_earlier(nearest, now + SERVERS_RETRY);
    runloop_lock(name_monitor->service.loop);
    nearest = clock_earlier(nearest, heap_nearest(&name_monitor->deadlines));
    if (name_monitor->files.due != NEVER)
        nearest = name_monitor->files.due;
    name_monitor->service.source.deadline = nearest;
    runloop_unlock(name_monitor->service.loop);
}

static int name_monitor_run(struct source *source)
{
    struct name_monitor *name_monitor = container_of(source, struct name_monitor, service.source);
    const int64_t now = clock_now();

    resolver_files_repair(&name_monitor->files, name_monitor->service.loop, source);
    note_changed_files(name_monitor, now);
    if (name_monitor->files.due == NEVER) { /* else a file is half-written */
        report_due_changes(name_monitor, now);
        call_due_watches(name_monitor, now);
    }
    update_source_deadline(name_monitor, now);
    return 0;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------------------- */

static int create_watched_paths(struct name_monitor *name_monitor)
{
    /* The default path is IPv4's if that is usable. So IPv6 has a path of its own, to an address of global scope. */
    const struct question default_path = { 0 }, ipv6 = { .destination = { AF_INET6, { 0x20, [15] = 1 } } };
    struct questions *servers = NULL;
    int error = resolvconf_server_questions(&servers);
    struct questions *questions[PATHS] = { servers,
                                           questions_create(&default_path, 1, kSCNetworkReachabilityReasonNone),
                                           questions_create(&ipv6, 1, kSCNetworkReachabilityReasonNone),
                                           questions_create(&default_path, 1, kSCNetworkReachabilityReasonNone) };

    for (size_t i = 0; i < PATHS; i++) {
        name_monitor->paths[i].name_monitor = name_monitor;
        name_monitor->paths[i].watch = (struct path_watch){ .type = &watch_type,
                                                            .questions = questions[i],
                                                            .extras = i == PATH_OF_FOLLOWERS ? QUERY_EXPIRY
                                                                                             : QUERY_SOURCE };
        if (questions[i] == NULL && error == 0)
            error = ENOMEM;
    }
    return error;
}

static int name_monitor_open(struct service *service)
{
    struct name_monitor *name_monitor = container_of(service, struct name_monitor, service);
    int error;

    list_init(&name_monitor->name_watches);
    list_init(&name_monitor->followers);
    list_init(&name_monitor->fresh);
    resolver_files_open(&name_monitor->files, &service->source);
    service->source.run = name_monitor_run;
    error = create_watched_paths(name_monitor);
    for (size_t i = 0; i < PATHS && error == 0; i++) {
        evaluate_watched_path(name_monitor, &name_monitor->paths[i]);
        error = monitor_watch(service->loop, service->netns, &name_monitor->paths[i].watch);
    }
    return error;
}

static void name_monitor_end(struct service *service)
{
    for (size_t i = 0; i < PATHS; i++)
        monitor_unwatch(service->loop, &container_of(service, struct name_monitor, service)->paths[i].watch);
}

static void name_monitor_close(struct service *service)
{
    struct name_monitor *name_monitor = container_of(service, struct name_monitor, service);

    resolver_files_close(&name_monitor->files);
    for (size_t i = 0; i < PATHS; i++)
        questions_release(name_monitor->paths[i].watch.questions);
}

static int add_name_watch_locked(struct service *service, void *user)
{
    struct name_watch *name_watch = user;

    name_watch->monitor = container_of(service, struct name_monitor, service);
    heap_node_init(&name_watch->deadline);
    list_append(&name_watch->monitor->name_watches, &name_watch->user.node);
    return 0;
}

static struct service *remove_name_watch_locked(void *user)
{
    struct name_watch *name_watch = user;
    struct name_monitor *name_monitor = name_watch->monitor;

    if (name_monitor == NULL)
        return NULL;
    name_watch->monitor = NULL;
    list_remove(&name_watch->user.node);
    heap_set(&name_monitor->deadlines, &name_watch->deadline, NEVER);
    return &name_monitor->service;
}

static const struct service_type name_monitor_type = { .size = sizeof(struct name_monitor),
                                                       .open = name_monitor_open,
                                                       .add_locked = add_name_watch_locked,
                                                       .remove_locked = remove_name_watch_locked,
                                                       .end = name_monitor_end,
                                                       .close = name_monitor_close };

int name_monitor_join(SCRunLoopRef loop, struct netns *netns, struct name_watch *name_watch)
{
    return service_join(loop, netns, &name_monitor_type, name_watch);
}

void name_monitor_leave(SCRunLoopRef loop, struct name_watch *name_watch)
{
    service_leave(loop, &name_monitor_type, name_watch);
}

void name_monitor_follow(SCRunLoopRef loop, struct name_watch *name_watch)
{
    struct name_monitor *name_monitor = name_watch->monitor;
    struct path_watch *default_path = &name_monitor->paths[PATH_OF_FOLLOWERS].watch;

    runloop_lock(loop);
    list_remove(&name_watch->user.node);
    list_append(&name_monitor->fresh, &name_watch->user.node);
    runloop_unlock(loop);
    monitor_evaluate_again(loop, default_path);
}

void name_monitor_stop_following(SCRunLoopRef loop, struct name_watch *name_watch)
{
    runloop_lock(loop);
    list_remove(&name_watch->user.node);
    list_append(&name_watch->monitor->name_watches, &name_watch->user.node);
    runloop_unlock(loop);
}

void name_monitor_set_deadline(SCRunLoopRef loop, struct name_watch *name_watch, int64_t deadline)
{
    runloop_lock(loop);
    if (name_watch->monitor != NULL) {
        heap_set(&name_watch->monitor->deadlines, &name_watch->deadline, deadline);
        if (deadline < name_watch->monitor->service.source.deadline)
            runloop_source_due_locked(loop, &name_watch->monitor->service.source);
    }
    runloop_unlock(loop);
}
#endif
