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

#define FILES_INTERVAL (2 * SECOND) /* while the files cannot be read, or nothing reports their changes */

#define PAUSE_FIRST (100 * MILLISECOND) /* short: a network comes up in steps (link, address, route) */
#define PAUSE_LAST  (60 * SECOND)
#define QUIET       (30 * SECOND) /* without a change */
#define QUIET_FILES (1 * SECOND)  /* without a change of the files */

/*
 * The pauses between look-ups. The first change starts look-ups at once, and then a pause begins. A change during the
 * pause counts at its end: look-ups must start after the last one. Each pause is twice as long as the previous one.
 * After a quiet time, pauses are short again. Without pauses, a gateway that flaps ten times a second, or forged router
 * advertisements, would start as many look-ups of every name.
 *
 * A network that flaps does not delay the effect of an edited file: the first edit in a second ends the pause.
 */
struct change_pause {
    int64_t end;    /* of the latest pause */
    int64_t length; /* of the next one */
    int64_t due;    /* when look-ups must start because of a change, or NEVER */
    int64_t last_change, last_edit;
    bool edited; /* the change is one of the files */
};

enum { NETWORKS, NAMES, KINDS };

/* The lists and the heap are under the loop's lock; users are out of their list while they are called. */
struct network_service {
    struct service service; /* its source: the resolver files */
    struct resolver_files_user files;
    struct path_watch watch;
    struct network_path *evaluated;         /* on the driving thread, until `accept` takes it */
    struct network_path *current;           /* under the loop's lock; not whole before an evaluation with all uplinks */
    struct list fresh[KINDS], users[KINDS]; /* that have had no report, and the others */
    struct heap deadlines;                  /* of names */
    struct change_pause pause;              /* on the driving thread */
    bool servers_unknown;                   /* the resolver files could not be read; on the driving thread */
};

static struct network_service *service_of_watch(struct path_watch *watch)
{
    return container_of(watch, struct network_service, watch);
}

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

const struct path *reach_network_service_default_path(const struct network_path *network)
{
    const struct path *ipv4 = &network->paths[NETWORK_IPV4], *ipv6 = &network->paths[NETWORK_IPV6];

    if (!reach_path_is_usable(ipv4) &&
        (reach_path_is_usable(ipv6) || ipv4->reason == kSCNetworkReachabilityReasonNoRoute))
        return ipv6;
    return ipv4;
}

/* Reports to the users of a kind: to all, or to those that have had no report. */
static void report(struct network_service *self, int kind, bool to_all, bool changed)
{
    struct list *const users = &self->users[kind], *node, called;
    struct service_user *user;

    list_init(&called);
    runloop_lock(self->service.loop);
    if (to_all)
        list_move(&called, users);
    while ((node = list_pop(&self->fresh[kind])) != NULL)
        list_append(&called, node);
    runloop_unlock(self->service.loop);
    while ((user = reach_service_next_user(&self->service, &called, users)) != NULL) {
        struct network_user *to = container_of(user, struct network_user, user);

        to->report(to, self->current, changed); /* only this thread replaces it */
        counted_release(user->owner);
    }
}

static void note_change(struct network_service *self, bool of_files, int64_t now)
{
    struct change_pause *pause = &self->pause;

    if (now - pause->last_change >= QUIET) {
        pause->length = PAUSE_FIRST;
        pause->end = now;
    }
    if (of_files && now - pause->last_edit >= QUIET_FILES)
        pause->end = now;
    if (of_files)
        pause->last_edit = now;
    pause->edited = pause->edited || of_files;
    pause->last_change = now;
    pause->due = pause->end;
    reach_lookup_mark_outdated(self->service.netns, LOOKUP_IN_PAUSE);
}

/* Starts look-ups of all names, and a pause. */
static void report_due_changes(struct network_service *self, int64_t now)
{
    struct change_pause *pause = &self->pause;

    if (pause->due > now)
        return;
    reach_lookup_mark_outdated(self->service.netns, pause->edited ? LOOKUP_OVERTAKEN : LOOKUP_OUTDATED);
    pause->due = NEVER;
    pause->edited = false;
    pause->end = now + pause->length;
    pause->length = 2 * pause->length < PAUSE_LAST ? 2 * pause->length : PAUSE_LAST;
    report(self, NAMES, true, true);
}

/* Clears each deadline that has passed, and calls its user. */
static void call_due_users(struct network_service *self, int64_t now)
{
    runloop_lock(self->service.loop);
    while (reach_heap_nearest(&self->deadlines) <= now) {
        struct network_user *user = container_of(reach_heap_first(&self->deadlines), struct network_user, deadline);
        struct counted *owner = user->user.owner;

        reach_heap_set(&self->deadlines, &user->deadline, NEVER);
        counted_retain(owner);
        runloop_unlock(self->service.loop);
        user->report(user, NULL, false);
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

/* Whether there are network targets. */
static bool wants_uplinks(struct network_service *self)
{
    bool wants;

    runloop_lock(self->service.loop);
    wants = !list_is_empty(&self->users[NETWORKS]) || !list_is_empty(&self->fresh[NETWORKS]);
    runloop_unlock(self->service.loop);
    return wants;
}

static int evaluate_network(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                            struct round_cache *cache, const struct questions *questions, bool whole, struct path *ret)
{
    struct network_service *self = service_of_watch(watch);
    const struct network_path *before = whole || !self->current->whole ? NULL : self->current;
    struct network_path *network;
    struct dependencies dependencies = { 0 };
    const bool with_uplinks = wants_uplinks(self);
    int error;

    error = rtnetlink == NULL && with_uplinks /* no message says which links there are */
                ? reach_network_path_query(netns, questions, &network)
                : reach_network_path_find(rtnetlink, netns, cache, questions, with_uplinks, before, &network,
                                          &dependencies);
    if (error != 0)
        return error;
    network->whole = with_uplinks;
    reach_network_path_release(self->evaluated);
    self->evaluated = network;
    *ret = network->paths[NETWORK_IPV4];
    ret->dependencies = dependencies;
    return 0;
}

/* Whether a name can have other addresses now, or be found. Other servers are a change of the files. */
static bool affects_names(const struct network_path *before, const struct network_path *now)
{
    return reach_path_differs(&before->paths[NETWORK_IPV4], &now->paths[NETWORK_IPV4]) ||
           reach_path_differs(&before->paths[NETWORK_IPV6], &now->paths[NETWORK_IPV6]) ||
           (reach_network_path_servers_equal(before, now) &&
            reach_path_differs(&before->server_path, &now->server_path));
}

static bool network_evaluated(struct path_watch *watch, const struct path *path)
{
    struct network_service *self = service_of_watch(watch);
    struct network_path *network = self->evaluated, *before = self->current;
    const struct outcome default_before = path_outcome(reach_network_service_default_path(before));
    const struct outcome default_now = path_outcome(reach_network_service_default_path(network));

    (void)path;
    self->evaluated = NULL;
    runloop_lock(self->service.loop);
    self->current = network;
    if (affects_names(before, network)) {
        note_change(self, false, clock_now());
        reach_runloop_source_due_locked(self->service.loop, &self->service.source);
    }
    runloop_unlock(self->service.loop);
    report(self, NAMES, reach_outcome_differs(&default_before, &default_now), false);
    if (network->whole)
        report(self, NETWORKS, !reach_network_path_equal(before, network), false);
    else if (wants_uplinks(self)) /* a user has joined meanwhile, perhaps with a network path of former users */
        reach_monitor_evaluate_again(self->service.loop, watch);
    reach_network_path_release(before);
    return true;
}

static const struct path_watch_type watch_type = { .owner = owner_of_watch,
                                                   .evaluate = evaluate_network,
                                                   .accept = network_evaluated };

/* ---- The source ------------------------------------------------------------------------------------------------- */

int reach_network_service_questions(struct questions **ret)
{
    struct name_server servers[CONFFILE_SERVERS];
    size_t count;
    const int error = reach_name_servers_read(servers, &count);

    if (error != 0)
        return error;
    *ret = reach_network_path_questions(servers, count);
    return *ret == NULL ? ENOMEM : 0;
}

/* If the files cannot be read, a later pass tries again; when that succeeds, it counts as a change. */
static void check_files(struct network_service *self, int64_t now)
{
    bool changed = reach_resolver_files_check(&self->files, now);
    struct questions *questions;

    if (changed || self->servers_unknown) {
        self->servers_unknown = reach_network_service_questions(&questions) != 0;
        if (!self->servers_unknown) {
            reach_monitor_set_questions(self->service.loop, &self->watch, questions);
            reach_questions_release(questions);
            changed = true;
        }
    }
    if (changed)
        note_change(self, true, now);
    else if (self->files.due != NEVER)
        reach_lookup_mark_outdated(self->service.netns, LOOKUP_IN_PAUSE);
}

static void update_deadline(struct network_service *self, int64_t now)
{
    int64_t deadline = self->pause.due;

    if (self->servers_unknown || !self->files.is_watched)
        deadline = clock_earlier(deadline, now + FILES_INTERVAL);
    runloop_lock(self->service.loop);
    deadline = clock_earlier(deadline, reach_heap_nearest(&self->deadlines));
    reach_runloop_set_deadline_locked(self->service.loop, &self->service.source,
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
        call_due_users(self, now);
    }
    update_deadline(self, now);
    report(self, NAMES, false, false); /* to those that have joined since the last evaluation */
    if (self->current->whole)
        report(self, NETWORKS, false, false);
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
    error = reach_network_path_find(NULL, self->service.netns, &cache, questions, false, NULL, ret, &ignored);
    reach_questions_release(questions);
    round_cache_end(&cache);
    return error;
}

static int network_service_open(struct service *service)
{
    struct network_service *self = container_of(service, struct network_service, service);
    int error;

    for (int i = 0; i < KINDS; i++) {
        list_init(&self->fresh[i]);
        list_init(&self->users[i]);
    }
    self->pause = (struct change_pause){ .length = PAUSE_FIRST, .due = NEVER };
    reach_resolver_files_join(&self->files, service->loop, &service->source);
    service->source.run = network_service_run;
    self->watch = (struct path_watch){ .type = &watch_type, .extras = QUERY_EXPIRY | QUERY_SOURCE };
    error = reach_network_service_questions(&self->watch.questions);
    if (error == 0)
        error = find_first(self, &self->current); /* the first round reports later changes */
    return error == 0 ? reach_monitor_watch(service->loop, service->netns, &self->watch) : error;
}

static void network_service_end(struct service *service)
{
    struct network_service *self = container_of(service, struct network_service, service);

    reach_monitor_unwatch(service->loop, &self->watch);
    reach_resolver_files_leave(&self->files);
}

static void network_service_close(struct service *service)
{
    struct network_service *self = container_of(service, struct network_service, service);

    reach_questions_release(self->watch.questions);
    reach_network_path_release(self->evaluated);
    reach_network_path_release(self->current);
}

struct joining {
    struct network_user *user;
    int kind;
};

static int add_user_locked(struct service *service, void *info)
{
    struct network_service *self = container_of(service, struct network_service, service);
    const struct joining *joining = info;

    joining->user->service = self;
    reach_heap_node_init(&joining->user->deadline);
    list_append(&self->fresh[joining->kind], &joining->user->user.node);
    reach_runloop_source_due_locked(service->loop, &service->source); /* the first report */
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
    reach_heap_set(&self->deadlines, &user->deadline, NEVER);
    return &self->service;
}

static const struct service_type network_service_type = { .size = sizeof(struct network_service),
                                                          .number = 2,
                                                          .open = network_service_open,
                                                          .add_locked = add_user_locked,
                                                          .remove_locked = remove_user_locked,
                                                          .end = network_service_end,
                                                          .close = network_service_close };

int reach_network_service_join(SCRunLoopRef loop, struct netns *netns, struct network_user *user, bool is_name)
{
    return reach_service_join(loop, netns, &network_service_type,
                              &(struct joining){ user, is_name ? NAMES : NETWORKS });
}

void reach_network_service_leave(SCRunLoopRef loop, struct network_user *user)
{
    reach_service_leave(loop, &network_service_type, user);
}

int reach_network_service_first(SCRunLoopRef loop, const struct network_user *user, struct network_path **ret)
{
    struct network_service *self = user->service;

    runloop_lock(loop);
    *ret = self->current->whole ? self->current : NULL;
    if (*ret != NULL)
        counted_retain(&(*ret)->counted);
    runloop_unlock(loop);
    if (*ret != NULL)
        return 0;
    reach_monitor_evaluate_again(loop, &self->watch);
    return find_first(self, ret); /* the last one is that of names, and can be old */
}

void reach_network_service_set_deadline(SCRunLoopRef loop, struct network_user *user, int64_t deadline)
{
    struct network_service *self;

    runloop_lock(loop);
    self = user->service;
    if (self != NULL) {
        reach_heap_set(&self->deadlines, &user->deadline, deadline);
        if (deadline < self->service.source.timer.deadline)
            reach_runloop_source_due_locked(loop, &self->service.source);
    }
    runloop_unlock(loop);
}
#endif
