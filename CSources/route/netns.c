/* SPDX-License-Identifier: MIT */
/*
 * The registry of the network namespaces with targets, and their shared sockets.
 *
 * What this file must never do: keep a namespace open that no target needs. The kernel could not free it after its
 * deletion.
 */
#ifdef __linux__
#include "route/netns.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/netns_handle.h"
#include "kernel/link_type.h"
#include "kernel/neighbours.h"
#include "kernel/routing_policy.h"
#include "route/evaluate.h"
#include "route/udp_probe.h"

struct netns {
    struct list node;
    unsigned era;        /* process_era of its creation */
    unsigned references; /* under process_lock */
    struct netns_handle handle;
    atomic_bool hides_peers;
    struct neighbour_socket neighbours;
    pthread_mutex_t lock; /* for the fields below */
    bool denied;          /* netlink is denied: use UDP sockets */
    struct rtnetlink rtnetlink;
};

static struct list netns_registry = { &netns_registry, &netns_registry }; /* under process_lock */
static unsigned registry_era; /* a fork's child starts with an empty registry */

/* ---- Registry --------------------------------------------------------------------------------------------------- */

/* In a fork's child, the lock can belong to a thread of the parent, and `rtnetlink` can be half changed: leave it. */
static void netns_free(struct netns *netns)
{
    if (pthread_mutex_trylock(&netns->lock) == 0) {
        pthread_mutex_unlock(&netns->lock);
        rtnetlink_close(&netns->rtnetlink);
    }
    neighbour_socket_close(&netns->neighbours);
    netns_handle_close(&netns->handle);
    pthread_mutex_destroy(&netns->lock);
    free(netns);
}

/* Opens sockets in the namespace, which is that of the calling thread. */
static int open_here(struct netns *netns, enum rtnetlink_scope scope, struct rtnetlink *ret)
{
    const int error = rtnetlink_open(ret, scope);

    if (error == 0)
        ret->netns = &netns->handle;
    return error;
}

static int netns_create(struct netns_id id, struct netns **ret)
{
    struct netns *netns = calloc(1, sizeof *netns);
    int error;

    if (netns == NULL)
        return ENOMEM;
    list_init(&netns->node);
    netns->era = process_era();
    netns->references = 1;
    netns->handle = NETNS_HANDLE_CLOSED;
    netns->rtnetlink = RTNETLINK_CLOSED;
    error = pthread_mutex_init(&netns->lock, NULL);
    if (error == 0 && (error = neighbour_socket_init(&netns->neighbours)) != 0)
        pthread_mutex_destroy(&netns->lock);
    if (error != 0) {
        free(netns);
        return error;
    }
    error = netns_handle_open(id, &netns->handle);
    if (error == 0)
        error = open_here(netns, RTNETLINK_LINKS, &netns->rtnetlink);
    if (error == NETLINK_DENIED) {
        netns->denied = true;
        error = 0;
    }
    if (error != 0) {
        netns_free(netns);
        return error;
    }
    *ret = netns;
    return 0;
}

/* Returns the namespace with this identity, with a reference. If the registry has none, adds and returns `fresh`. */
static struct netns *find_or_register(struct netns_id id, struct netns *fresh)
{
    struct netns *found = NULL;

    process_lock();
    if (registry_era != process_era()) {
        list_init(&netns_registry);
        registry_era = process_era();
    }
    list_for_each(node, &netns_registry) {
        struct netns *netns = container_of(node, struct netns, node);

        if (netns_id_equal(netns->handle.id, id)) {
            netns->references++;
            found = netns;
            break;
        }
    }
    if (found == NULL && fresh != NULL) {
        list_append(&netns_registry, &fresh->node);
        found = fresh;
    }
    process_unlock();
    return found;
}

int netns_current(struct netns **ret)
{
    struct netns *found, *fresh;
    struct netns_id id;
    int error = netns_id_current(&id);

    if (error != 0)
        return error;
    found = find_or_register(id, NULL);
    if (found == NULL) {
        error = netns_create(id, &fresh);
        if (error != 0)
            return error;
        found = find_or_register(id, fresh);
        if (found != fresh)
            netns_free(fresh); /* another thread was quicker */
    }
    *ret = found;
    return 0;
}

void netns_retain_locked(struct netns *netns)
{
    netns->references++;
}

void netns_retain(struct netns *netns)
{
    process_lock();
    netns_retain_locked(netns);
    process_unlock();
}

void netns_release(struct netns *netns)
{
    bool last;

    process_lock();
    last = --netns->references == 0;
    if (last && netns->era == process_era())
        list_remove(&netns->node);
    process_unlock();
    if (last)
        netns_free(netns);
}

struct netns_handle *netns_handle(struct netns *netns)
{
    return &netns->handle;
}

struct neighbour_socket *netns_neighbours(struct netns *netns)
{
    return &netns->neighbours;
}

/* ---- Calls in the namespace ------------------------------------------------------------------------------------- */

int netns_run(struct netns *netns, int (*run)(void *argument), void *argument)
{
    return netns_handle_run(&netns->handle, run, argument);
}

int netns_enter(struct netns *netns)
{
    return netns_handle_enter(&netns->handle);
}

struct open_rtnetlink_call {
    struct netns *netns;
    enum rtnetlink_scope scope;
    struct rtnetlink *rtnetlink;
};

static int open_rtnetlink_in_namespace(void *argument)
{
    const struct open_rtnetlink_call *call = argument;

    return open_here(call->netns, call->scope, call->rtnetlink);
}

int netns_open_rtnetlink(struct netns *netns, enum rtnetlink_scope scope, struct rtnetlink *ret)
{
    return netns_run(netns, open_rtnetlink_in_namespace,
                     &(struct open_rtnetlink_call){ .netns = netns, .scope = scope, .rtnetlink = ret });
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

struct evaluate_call {
    struct netns *netns;
    struct round_cache *cache;
    const struct questions *questions;
    unsigned extras;
    struct path *path;
};

/* Whether the shared socket can be used. The program may have closed it, and have a file of its own with its number. */
static bool can_query_locked(const struct netns *netns)
{
    return !netns->denied && rtnetlink_is_ours(&netns->rtnetlink);
}

static void settle_flow(const struct questions *questions, const struct rule_knowledge *rules, struct path *path)
{
    path->flow_unsettled = path->flow_unsettled || !rules->known;
    if (rules->known && questions_are_incomplete(questions, path, rules->selectors))
        path->flow |= kSCNetworkReachabilityFlowIncomplete;
}

static int evaluate_over_shared_socket_locked(const struct evaluate_call *call)
{
    struct netns *netns = call->netns;
    int error;

    (void)rtnetlink_set_user(&netns->rtnetlink, process_user());
    rtnetlink_clear_unwatched(&netns->rtnetlink);
    error = evaluate_questions(&netns->rtnetlink, call->cache, call->questions, call->extras, call->path);
    if (error == 0 && (call->extras & QUERY_FLOW) != 0)
        settle_flow(call->questions, &netns->rtnetlink.rules, call->path);
    return error;
}

/* Returns false if the socket must be opened first. */
static bool evaluate_over_shared_socket(const struct evaluate_call *call, int *ret_error)
{
    struct netns *netns = call->netns;
    bool can_query;

    pthread_mutex_lock(&netns->lock);
    can_query = can_query_locked(netns);
    if (can_query)
        *ret_error = evaluate_over_shared_socket_locked(call);
    pthread_mutex_unlock(&netns->lock);
    return can_query && *ret_error != NETLINK_DENIED;
}

/* Opens the shared socket if it is closed. Netlink may be allowed now. */
static int open_shared_socket_locked(struct netns *netns)
{
    const unsigned rules = netns->rtnetlink.rules.version, links = netns->rtnetlink.links.version;
    int error;

    if (can_query_locked(netns))
        return 0;
    rtnetlink_close(&netns->rtnetlink);
    error = open_here(netns, RTNETLINK_LINKS, &netns->rtnetlink);
    netns->rtnetlink.rules.version = rules + 1; /* what others have read is older */
    netns->rtnetlink.links.version = links + 1;
    netns->denied = error == NETLINK_DENIED;
    return error;
}

static int evaluate_in_namespace(void *argument)
{
    const struct evaluate_call *call = argument;
    struct netns *netns = call->netns;
    int error;

    pthread_mutex_lock(&netns->lock);
    error = open_shared_socket_locked(netns);
    if (error == 0)
        error = evaluate_over_shared_socket_locked(call);
    pthread_mutex_unlock(&netns->lock);
    return error == NETLINK_DENIED ? udp_probe_evaluate(call->questions, call->path) : error;
}

/* The shared link table has only the links of earlier questions. No call may wait for RTNL with the shared socket's
 * lock. So this uses a socket and a table of its own. */
static int evaluate_over_all_links(void *argument)
{
    const struct evaluate_call *call = argument;
    struct rtnetlink rtnetlink;
    int error = open_here(call->netns, RTNETLINK_LINKS, &rtnetlink);

    if (error == 0) {
        (void)rtnetlink_set_user(&rtnetlink, process_user());
        error = rtnetlink_read_links(&rtnetlink);
        if (error == 0)
            error = evaluate_questions(&rtnetlink, call->cache, call->questions, call->extras, call->path);
        rtnetlink_close(&rtnetlink);
    }
    return error == NETLINK_DENIED ? udp_probe_evaluate(call->questions, call->path) : error;
}

int netns_evaluate_in_round(struct netns *netns, struct round_cache *cache, const struct questions *questions,
                            unsigned extras, struct path *ret)
{
    struct evaluate_call call = {
        .netns = netns, .cache = cache, .questions = questions, .extras = extras, .path = ret
    };
    int error;

    if (evaluate_needs_all_links(questions))
        return netns_run(netns, evaluate_over_all_links, &call);
    return evaluate_over_shared_socket(&call, &error) ? error : netns_run(netns, evaluate_in_namespace, &call);
}

int netns_evaluate(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    const int error = netns_evaluate_in_round(netns, &cache, questions, extras, ret);

    round_cache_clear(&cache);
    return error;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static int read_selectors_in_namespace(void *argument)
{
    struct rule_knowledge *rules = argument;

    return routing_policy_read_selectors(rules->selectors);
}

int netns_settle_flow(struct netns *netns, const struct questions *questions, struct path *path)
{
    struct rule_knowledge rules, *shared = &netns->rtnetlink.rules;
    int error;

    if (!path->flow_unsettled)
        return 0;
    pthread_mutex_lock(&netns->lock);
    rules = *shared;
    pthread_mutex_unlock(&netns->lock);
    error = netns_run(netns, read_selectors_in_namespace, &rules);
    if (error != 0)
        return netlink_is_withheld(error) ? 0 : error;
    pthread_mutex_lock(&netns->lock);
    rules.known = true;
    if (rules.version == shared->version) /* else the next call reads them again */
        *shared = rules;
    pthread_mutex_unlock(&netns->lock);
    path->flow_unsettled = false;
    settle_flow(questions, &rules, path);
    return 0;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

struct link_type_call {
    uint32_t index;
    struct link *link;
};

static int query_link_type_in_namespace(void *argument)
{
    const struct link_type_call *call = argument;

    return link_type_query(call->index, call->link);
}

int netns_query_link_type(struct netns *netns, uint32_t index, struct link *ret)
{
    return netns_run(netns, query_link_type_in_namespace, &(struct link_type_call){ .index = index, .link = ret });
}

static int open_shared_socket_in_namespace(void *argument)
{
    struct netns *netns = argument;
    int error;

    pthread_mutex_lock(&netns->lock);
    error = open_shared_socket_locked(netns);
    pthread_mutex_unlock(&netns->lock);
    return error;
}

/* If the program has closed the shared socket, opens another one. */
static void repair_shared_socket(struct netns *netns)
{
    bool is_lost;

    pthread_mutex_lock(&netns->lock);
    is_lost = !netns->denied && !can_query_locked(netns);
    pthread_mutex_unlock(&netns->lock);
    if (is_lost)
        (void)netns_run(netns, open_shared_socket_in_namespace, netns);
}

/* A new link can have the index and the name of one that the shared table still has: it is updated first. */
void netns_lend_devices(struct netns *netns, struct link_table *links)
{
    struct rtnetlink *shared = &netns->rtnetlink;

    pthread_mutex_lock(&netns->lock);
    if (!shared->groups_refused && link_table_take_devices(links, &shared->links, false) && can_query_locked(netns)) {
        rtnetlink_update_links(shared);
        (void)link_table_take_devices(links, &shared->links, true);
    }
    pthread_mutex_unlock(&netns->lock);
}

/* Reads a link from the shared link table, or from the kernel without waiting for RTNL, and the table's `version`. */
static bool read_shared_link(struct netns *netns, uint32_t index, struct link *ret, unsigned *ret_version)
{
    const struct link *link = NULL;

    repair_shared_socket(netns);
    pthread_mutex_lock(&netns->lock);
    if (can_query_locked(netns)) {
        rtnetlink_update_links(&netns->rtnetlink);
        (void)rtnetlink_link(&netns->rtnetlink, index, &link);
        *ret_version = netns->rtnetlink.links.version;
    }
    if (link != NULL)
        *ret = *link;
    pthread_mutex_unlock(&netns->lock);
    return link != NULL;
}

/* The link was deleted a moment ago, or the kernel refuses to say more. */
static bool nothing_more_to_learn(int error)
{
    return error == ENODEV || netlink_is_withheld(error);
}

int netns_learn_link(struct netns *netns, uint32_t index, struct link *ret)
{
    unsigned version = 0;
    struct link found;
    int error;

    *ret = (struct link){ 0 };
    if (index == 0 || !read_shared_link(netns, index, ret, &version) || (link_type_is_known(ret) && ret->complete))
        return 0;
    error = netns_query_link_type(netns, index, &found);
    if (error != 0)
        return nothing_more_to_learn(error) ? 0 : error;
    *ret = found;
    pthread_mutex_lock(&netns->lock);
    link_table_learn(&netns->rtnetlink.links, ret, version);
    pthread_mutex_unlock(&netns->lock);
    return 0;
}

/* ---- Names of links --------------------------------------------------------------------------------------------- */

struct link_index_call {
    const char *name;
    uint32_t index;
};

static int find_link_index_in_namespace(void *argument)
{
    struct link_index_call *call = argument;

    return udp_probe_link_index(call->name, &call->index);
}

uint32_t netns_link_index(struct netns *netns, const char *name)
{
    struct link_index_call call = { .name = name };
    bool can_query;

    pthread_mutex_lock(&netns->lock);
    can_query = can_query_locked(netns);
    if (can_query)
        (void)rtnetlink_link_index(&netns->rtnetlink, name, &call.index);
    pthread_mutex_unlock(&netns->lock);
    if (!can_query)
        (void)netns_run(netns, find_link_index_in_namespace, &call);
    return call.index;
}

/* ---- WireGuard -------------------------------------------------------------------------------------------------- */

bool netns_hides_peers(const struct netns *netns)
{
    return atomic_load(&netns->hides_peers);
}

void netns_set_hides_peers(struct netns *netns)
{
    atomic_store(&netns->hides_peers, true);
}
#endif
