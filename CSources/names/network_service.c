/* SPDX-License-Identifier: MIT */
/*
 * A source of the run loop that watches the resolver files, and one watch of the loop's monitor: the default paths and
 * the paths to the name servers, and while there are network watches, the default paths out of all interfaces.
 *
 * What this file must never do: report a message that changed nothing. Some networks announce an address again every
 * few seconds. So network paths are compared; only one that differs counts.
 */
#ifdef __linux__
#include "names/network_service.h"

#include <errno.h>

#include "base/clock.h"
#include "names/lookup.h"
#include "names/name_servers.h"
#include "names/resolver_files.h"

#define SERVERS_RETRY  (1 * SECOND) /* when the resolver files cannot be read */
#define FILES_INTERVAL (2 * SECOND) /* between checks for network watches, if nothing reports changes of the files */

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

/* ---- The service ------------------------------------------------------------------------------------------------ */

/* Kinds of changes. A network that flaps does not delay the effect of an edited file. */
enum change_kind { CHANGE_OF_FILES, CHANGE_OF_PATHS, CHANGES };

/* The lists and the heap are under the loop's lock; watches are out of their list while they are called. */
struct network_service {
    struct service service; /* its source: the resolver files */
    struct resolver_files_user files;
    struct path_watch watch;
    struct network_path *evaluated; /* on the driving thread, until `accept` takes it */
    struct network_path *current;   /* under the loop's lock; not whole before an evaluation with all ways */
    size_t network_users;           /* under the loop's lock */
    struct list network_watches;
    struct list name_watches;            /* that do not follow the default path */
    struct list followers;               /* that have its last outcome */
    struct list fresh;                   /* followers that have not */
    struct heap deadlines;               /* of name watches */
    struct change_pause pauses[CHANGES]; /* on the driving thread */
    bool servers_unknown;                /* the resolver files could not be read; on the driving thread */
};

static struct network_service *service_of_watch(struct path_watch *watch)
{
    return container_of(watch, struct network_service, watch);
}

/* ---- Reports to network watches --------------------------------------------------------------------------------- */

/* Reports to all, or to those that have had no report. */
static void report_network(struct network_service *self, struct network_path *network, bool all)
{
    struct list unreported, kept;
    struct service_user *user;

    list_init(&unreported);
    list_init(&kept);
    runloop_lock(self->service.loop);
    while (!list_is_empty(&self->network_watches)) {
        struct list *node = list_pop(&self->network_watches);
        struct network_watch *watch = container_of(node, struct network_watch, of.user.node);

        list_append(all || !watch->reported ? &unreported : &kept, node);
        watch->reported = true;
    }
    list_move(&self->network_watches, &kept);
    runloop_unlock(self->service.loop);
    while ((user = service_next_user(&self->service, &unreported, &self->network_watches)) != NULL) {
        struct network_watch *watch = container_of(user, struct network_watch, of.user);

        watch->changed(watch, network);
        counted_release(user->owner);
    }
}

/* ---- Reports to name watches ------------------------------------------------------------------------------------ */

/* IPv4's path if that is usable, then IPv6's. If neither is, IPv4's reason counts, unless it has no default route. */
static const struct path *default_path(const struct network_path *network)
{
    const struct path *ipv4 = &network->paths[NETWORK_IPV4], *ipv6 = &network->paths[NETWORK_IPV6];

    if (!path_is_usable(ipv4) && (path_is_usable(ipv6) || ipv4->reason == kSCNetworkReachabilityReasonNoRoute))
        return ipv6;
    return ipv4;
}

/* Moves the watches of `list` to `to`, and calls each: `path` is the default path; NULL: a look-up is due. */
static void call_names(struct network_service *self, struct list *list, struct list *to, const struct path *path)
{
    struct list uncalled;
    struct service_user *user;

    list_init(&uncalled);
    runloop_lock(self->service.loop);
    list_move(&uncalled, list);
    runloop_unlock(self->service.loop);
    while ((user = service_next_user(&self->service, &uncalled, to)) != NULL) {
        struct name_watch *name_watch = container_of(user, struct name_watch, of.user);

        if (path != NULL)
            name_watch->of.name_type->default_path(name_watch, path);
        else
            name_watch->of.name_type->due(name_watch, true);
        counted_release(user->owner);
    }
}

static void note_change(struct network_service *self, enum change_kind kind, int64_t now)
{
    change_pause_note(&self->pauses[kind], now);
    lookup_mark_outdated(self->service.netns, LOOKUP_IN_PAUSE);
}

/* When the changes must be reported, or NEVER. */
static int64_t changes_due(const struct network_service *self)
{
    return clock_earlier(change_pause_due(&self->pauses[CHANGE_OF_FILES]),
                         change_pause_due(&self->pauses[CHANGE_OF_PATHS]));
}

static void report_due_changes(struct network_service *self, int64_t now)
{
    const bool of_files = change_pause_due(&self->pauses[CHANGE_OF_FILES]) <= now;

    if (changes_due(self) > now)
        return;
    for (size_t i = 0; i < CHANGES; i++)
        change_pause_begin(&self->pauses[i], now);
    lookup_mark_outdated(self->service.netns, of_files ? LOOKUP_OVERTAKEN : LOOKUP_OUTDATED);
    call_names(self, &self->name_watches, &self->name_watches, NULL);
    call_names(self, &self->followers, &self->followers, NULL);
    call_names(self, &self->fresh, &self->fresh, NULL);
}

/* Clears each deadline that has passed, and calls its watch. */
static void call_due_watches(struct network_service *self, int64_t now)
{
    runloop_lock(self->service.loop);
    while (heap_nearest(&self->deadlines) <= now) {
        struct name_watch *name_watch = container_of(heap_first(&self->deadlines), struct name_watch, deadline);
        struct counted *owner = name_watch->of.user.owner;

        heap_set(&self->deadlines, &name_watch->deadline, NEVER);
        counted_retain(owner);
        runloop_unlock(self->service.loop);
        name_watch->of.name_type->due(name_watch, false);
        counted_release(owner);
        runloop_lock(self->service.loop);
    }
    runloop_unlock(self->service.loop);
}

/* ---- The watch of the loop's monitor ---------------------------------------------------------------------------- */

static struct counted *owner_of_watch(struct path_watch *watch)
{
    return &service_of_watch(watch)->service.source.counted;
}

static int evaluate_network(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                            struct round_cache *cache, const struct questions *questions, struct path *ret)
{
    struct network_service *self = service_of_watch(watch);
    struct network_path *network;
    struct dependencies dependencies = { 0 };
    bool with_ways;
    int error;

    runloop_lock(self->service.loop);
    with_ways = self->network_users > 0;
    runloop_unlock(self->service.loop);
    error = rtnetlink == NULL && with_ways /* no message says which links there are */
                ? network_path_query(netns, questions, &network)
                : network_path_find(rtnetlink, netns, cache, questions, with_ways, &network, &dependencies);
    if (error != 0)
        return error;
    network->whole = with_ways;
    network_path_release(self->evaluated);
    self->evaluated = network;
    *ret = network->paths[NETWORK_IPV4];
    ret->dependencies = dependencies;
    return 0;
}

/* Whether a name can have other addresses now, or be found. Other servers are a change of the files. */
static bool affects_names(const struct network_path *before, const struct network_path *now)
{
    return path_differs(&before->paths[NETWORK_IPV4], &now->paths[NETWORK_IPV4]) ||
           path_differs(&before->paths[NETWORK_IPV6], &now->paths[NETWORK_IPV6]) ||
           (network_path_servers_equal(before, now) && path_differs(&before->server_path, &now->server_path));
}

static bool network_evaluated(struct path_watch *watch, const struct path *path)
{
    struct network_service *self = service_of_watch(watch);
    struct network_path *network = self->evaluated, *before = self->current;
    const struct outcome default_before = path_outcome(default_path(before));
    const struct outcome default_now = path_outcome(default_path(network));

    (void)path;
    self->evaluated = NULL;
    runloop_lock(self->service.loop);
    self->current = network;
    counted_retain(&network->counted);
    if (affects_names(before, network)) {
        note_change(self, CHANGE_OF_PATHS, clock_now());
        runloop_source_due_locked(self->service.loop, &self->service.source);
    }
    runloop_unlock(self->service.loop);
    if (outcome_differs(&default_before, &default_now))
        call_names(self, &self->followers, &self->followers, default_path(network));
    call_names(self, &self->fresh, &self->followers, default_path(network));
    if (network->whole)
        report_network(self, network, !network_path_equal(before, network));
    network_path_release(before);
    network_path_release(network);
    return true;
}

static const struct path_watch_type watch_type = { .owner = owner_of_watch,
                                                   .evaluate = evaluate_network,
                                                   .accept = network_evaluated };

/* ---- The source ------------------------------------------------------------------------------------------------- */

int network_service_questions(struct questions **ret)
{
    struct name_server servers[CONFFILE_SERVERS];
    size_t count;
    const int error = name_servers_read(servers, &count);

    if (error != 0)
        return error;
    *ret = network_path_questions(servers, count);
    return *ret == NULL ? ENOMEM : 0;
}

/* If the files cannot be read, a later pass tries again; when that succeeds, it counts as a change. */
static void check_files(struct network_service *self, int64_t now)
{
    bool changed = resolver_files_check(&self->files, now);
    struct questions *questions;

    if (changed || self->servers_unknown) {
        self->servers_unknown = network_service_questions(&questions) != 0;
        if (!self->servers_unknown) {
            monitor_set_questions(self->service.loop, &self->watch, questions);
            questions_release(questions);
            changed = true;
        }
    }
    if (changed)
        note_change(self, CHANGE_OF_FILES, now);
    else if (self->files.due != NEVER)
        lookup_mark_outdated(self->service.netns, LOOKUP_IN_PAUSE);
}

static void update_deadline(struct network_service *self, int64_t now)
{
    int64_t deadline = changes_due(self);

    runloop_lock(self->service.loop);
    deadline = clock_earlier(deadline, heap_nearest(&self->deadlines));
    if (self->servers_unknown)
        deadline = clock_earlier(deadline, now + SERVERS_RETRY);
    if (!self->files.is_watched && self->network_users > 0)
        deadline = clock_earlier(deadline, now + FILES_INTERVAL);
    runloop_set_deadline_locked(self->service.loop, &self->service.source,
                                self->files.due != NEVER ? self->files.due : deadline);
    runloop_unlock(self->service.loop);
}

static int network_service_run(struct source *source)
{
    struct network_service *self = container_of(source, struct network_service, service.source);
    const int64_t now = clock_now();

    check_files(self, now);
    if (self->files.due == NEVER) { /* else a file is half-written */
        report_due_changes(self, now);
        call_due_watches(self, now);
    }
    update_deadline(self, now);
    if (self->current->whole)                       /* only this thread replaces it */
        report_network(self, self->current, false); /* to watches that joined after it was found */
    return 0;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------------------- */

/* The network path before the loop's monitor has evaluated it. Does not wait for RTNL. */
static int find_first(const struct network_service *self, struct network_path **ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct dependencies ignored;
    struct questions *questions;
    int error;

    runloop_lock(self->service.loop); /* the loop's thread can replace them */
    questions = self->watch.questions;
    counted_retain(&questions->counted);
    runloop_unlock(self->service.loop);
    error = network_path_find(NULL, self->service.netns, &cache, questions, false, ret, &ignored);
    questions_release(questions);
    round_cache_end(&cache);
    return error;
}

static int network_service_open(struct service *service)
{
    struct network_service *self = container_of(service, struct network_service, service);
    int error;

    list_init(&self->network_watches);
    list_init(&self->name_watches);
    list_init(&self->followers);
    list_init(&self->fresh);
    resolver_files_join(&self->files, service->loop, &service->source);
    service->source.run = network_service_run;
    self->watch = (struct path_watch){ .type = &watch_type, .extras = QUERY_EXPIRY | QUERY_SOURCE };
    error = network_service_questions(&self->watch.questions);
    if (error == 0)
        error = find_first(self, &self->current); /* the first round reports later changes */
    return error == 0 ? monitor_watch(service->loop, service->netns, &self->watch) : error;
}

static void network_service_end(struct service *service)
{
    struct network_service *self = container_of(service, struct network_service, service);

    monitor_unwatch(service->loop, &self->watch);
    resolver_files_leave(&self->files);
}

static void network_service_close(struct service *service)
{
    struct network_service *self = container_of(service, struct network_service, service);

    questions_release(self->watch.questions);
    network_path_release(self->evaluated);
    network_path_release(self->current);
}

static int add_user_locked(struct service *service, void *info)
{
    struct network_service *self = container_of(service, struct network_service, service);
    struct network_user *user = info;

    user->service = self;
    list_append(user->name_type != NULL ? &self->name_watches : &self->network_watches, &user->user.node);
    self->network_users += user->name_type == NULL;
    runloop_source_due_locked(service->loop, &service->source); /* the first report to a network watch */
    return 0;
}

static struct service *remove_user_locked(void *info)
{
    struct network_user *user = info;
    struct network_service *self = user->service;

    if (self == NULL)
        return NULL;
    user->service = NULL;
    list_remove(&user->user.node);
    self->network_users -= user->name_type == NULL;
    if (user->name_type != NULL)
        heap_set(&self->deadlines, &container_of(user, struct name_watch, of)->deadline, NEVER);
    return &self->service;
}

static const struct service_type network_service_type = { .size = sizeof(struct network_service),
                                                          .number = 2,
                                                          .open = network_service_open,
                                                          .add_locked = add_user_locked,
                                                          .remove_locked = remove_user_locked,
                                                          .end = network_service_end,
                                                          .close = network_service_close };

int network_service_join(SCRunLoopRef loop, struct netns *netns, struct network_watch *watch,
                         struct network_path **ret_first)
{
    int error = service_join(loop, netns, &network_service_type, &watch->of);
    struct network_service *self = watch->of.service;
    bool is_old;

    if (error != 0)
        return error;
    runloop_lock(loop);
    *ret_first = self->current;
    counted_retain(&self->current->counted);
    /* Found earlier, for another user. For the first one, the loop's monitor has not evaluated it yet: the target's own
     * watch comes before, and waits for the target's lock. */
    is_old = !self->current->whole && self->service.users > 1;
    runloop_unlock(loop);
    if (!is_old)
        return 0;
    network_path_release(*ret_first);
    error = find_first(self, ret_first);
    if (error == 0)
        monitor_evaluate_again(loop, &self->watch);
    else
        network_service_leave(loop, &watch->of);
    return error;
}

void network_service_leave(SCRunLoopRef loop, struct network_user *user)
{
    service_leave(loop, &network_service_type, user);
}

int network_service_join_name(SCRunLoopRef loop, struct netns *netns, struct name_watch *name_watch)
{
    heap_node_init(&name_watch->deadline);
    return service_join(loop, netns, &network_service_type, &name_watch->of);
}

static void move_name_watch(SCRunLoopRef loop, struct name_watch *name_watch, struct list *to)
{
    runloop_lock(loop);
    list_remove(&name_watch->of.user.node);
    list_append(to, &name_watch->of.user.node);
    runloop_unlock(loop);
}

void network_service_follow(SCRunLoopRef loop, struct name_watch *name_watch)
{
    move_name_watch(loop, name_watch, &name_watch->of.service->fresh);
    monitor_evaluate_again(loop, &name_watch->of.service->watch);
}

void network_service_stop_following(SCRunLoopRef loop, struct name_watch *name_watch)
{
    move_name_watch(loop, name_watch, &name_watch->of.service->name_watches);
}

void network_service_set_deadline(SCRunLoopRef loop, struct name_watch *name_watch, int64_t deadline)
{
    struct network_service *self;

    runloop_lock(loop);
    self = name_watch->of.service;
    if (self != NULL) {
        heap_set(&self->deadlines, &name_watch->deadline, deadline);
        if (deadline < self->service.source.timer.deadline)
            runloop_source_due_locked(loop, &self->service.source);
    }
    runloop_unlock(loop);
}
#endif
