/* SPDX-License-Identifier: MIT */
/*
 * The socket that the targets of a namespace share for queries outside run loops.
 *
 * What this file must never do: wait for RTNL with the lock. All threads would wait for one that changes a link.
 */
#ifdef __linux__
#include "route/shared_socket.h"

#include <errno.h>

#include "base/netns_handle.h"
#include "kernel/link_alias.h"
#include "kernel/link_type.h"
#include "kernel/routing_policy.h"
#include "route/udp_probe.h"

/* ---- The socket ------------------------------------------------------------------------------------------------- */

int shared_socket_init(struct shared_socket *shared, struct netns_handle *netns)
{
    *shared = (struct shared_socket){ .netns = netns, .rtnetlink = RTNETLINK_CLOSED };
    return pthread_mutex_init(&shared->lock, NULL);
}

/* In a fork's child, the lock can belong to a thread of the parent, and `rtnetlink` can be half changed: leave it. */
void shared_socket_close(struct shared_socket *shared)
{
    if (pthread_mutex_trylock(&shared->lock) == 0) {
        pthread_mutex_unlock(&shared->lock);
        rtnetlink_close(&shared->rtnetlink);
    }
    pthread_mutex_destroy(&shared->lock);
}

/* Whether the socket can be used. The program may have closed it, and have a file of its own with its number. */
static bool can_query_locked(const struct shared_socket *shared)
{
    return !shared->denied && rtnetlink_is_ours(&shared->rtnetlink);
}

/* Opens the socket if it is closed. Netlink may be allowed now. */
static int open_locked(struct shared_socket *shared)
{
    const unsigned rules = shared->rtnetlink.rules.version, links = shared->rtnetlink.links.version;
    int error;

    if (can_query_locked(shared))
        return 0;
    rtnetlink_close(&shared->rtnetlink);
    error = rtnetlink_open(&shared->rtnetlink, RTNETLINK_LINKS, shared->netns);
    shared->rtnetlink.rules.version = rules + 1; /* what others have read is older */
    shared->rtnetlink.links.version = links + 1;
    shared->denied = error == NETLINK_DENIED;
    return error;
}

static int open_in_namespace(void *argument)
{
    struct shared_socket *shared = argument;
    int error;

    pthread_mutex_lock(&shared->lock);
    error = open_locked(shared);
    pthread_mutex_unlock(&shared->lock);
    return error;
}

int shared_socket_open(struct shared_socket *shared)
{
    const int error = open_in_namespace(shared);

    return error == NETLINK_DENIED ? 0 : error;
}

/* If the program has closed the socket, opens another one. */
static void repair(struct shared_socket *shared)
{
    bool is_lost;

    pthread_mutex_lock(&shared->lock);
    is_lost = !shared->denied && !can_query_locked(shared);
    pthread_mutex_unlock(&shared->lock);
    if (is_lost)
        (void)netns_handle_run(shared->netns, open_in_namespace, shared);
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

struct evaluate_call {
    struct shared_socket *shared;
    struct round_cache *cache;
    const struct questions *questions;
    unsigned extras;
    struct path *path;
};

static void add_incomplete(const struct questions *questions, const struct rule_knowledge *rules, struct path *path)
{
    path->flow_unsettled = path->flow_unsettled || !rules->known;
    if (rules->known && questions_are_incomplete(questions, path, rules->selectors))
        path->flow |= kSCNetworkReachabilityFlowIncomplete;
}

static int evaluate_locked(const struct evaluate_call *call)
{
    struct shared_socket *shared = call->shared;
    int error;

    (void)rtnetlink_set_user(&shared->rtnetlink, process_user());
    rtnetlink_clear_unwatched(&shared->rtnetlink);
    error = evaluate_questions(&shared->rtnetlink, call->cache, call->questions, call->extras, call->path);
    if (error == 0 && (call->extras & QUERY_FLOW) != 0)
        add_incomplete(call->questions, &shared->rtnetlink.rules, call->path);
    return error;
}

/* Returns false if the socket must be opened first. */
static bool evaluate_if_open(const struct evaluate_call *call, int *ret_error)
{
    struct shared_socket *shared = call->shared;
    bool can_query;

    pthread_mutex_lock(&shared->lock);
    can_query = can_query_locked(shared);
    if (can_query)
        *ret_error = evaluate_locked(call);
    pthread_mutex_unlock(&shared->lock);
    return can_query && *ret_error != NETLINK_DENIED;
}

static int evaluate_in_namespace(void *argument)
{
    const struct evaluate_call *call = argument;
    struct shared_socket *shared = call->shared;
    int error;

    pthread_mutex_lock(&shared->lock);
    error = open_locked(shared);
    if (error == 0)
        error = evaluate_locked(call);
    pthread_mutex_unlock(&shared->lock);
    return error == NETLINK_DENIED ? udp_probe_evaluate(call->questions, call->path) : error;
}

/* The shared link table has only the links of earlier questions. No call may wait for RTNL with the shared socket's
 * lock. So this uses a socket and a table of its own. */
static int evaluate_over_all_links(void *argument)
{
    const struct evaluate_call *call = argument;
    struct rtnetlink rtnetlink;
    int error = rtnetlink_open(&rtnetlink, RTNETLINK_LINKS, call->shared->netns);

    if (error == 0) {
        (void)rtnetlink_set_user(&rtnetlink, process_user());
        error = rtnetlink_read_links(&rtnetlink);
        if (error == 0)
            error = evaluate_questions(&rtnetlink, call->cache, call->questions, call->extras, call->path);
        rtnetlink_close(&rtnetlink);
    }
    return error == NETLINK_DENIED ? udp_probe_evaluate(call->questions, call->path) : error;
}

int shared_socket_evaluate_in_round(struct shared_socket *shared, struct round_cache *cache,
                                    const struct questions *questions, unsigned extras, struct path *ret)
{
    struct evaluate_call call = {
        .shared = shared, .cache = cache, .questions = questions, .extras = extras, .path = ret
    };
    int error;

    if (evaluate_may_wait(questions))
        return netns_handle_run(shared->netns, evaluate_over_all_links, &call);
    return evaluate_if_open(&call, &error) ? error : netns_handle_run(shared->netns, evaluate_in_namespace, &call);
}

int shared_socket_evaluate(struct shared_socket *shared, const struct questions *questions, unsigned extras,
                           struct path *ret)
{
    struct round_cache cache = ROUND_CACHE_EMPTY;
    const int error = shared_socket_evaluate_in_round(shared, &cache, questions, extras, ret);

    round_cache_clear(&cache);
    return error;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static int read_selectors_in_namespace(void *argument)
{
    struct rule_knowledge *rules = argument;

    return routing_policy_read_selectors(rules->selectors);
}

int shared_socket_settle_flow(struct shared_socket *shared, const struct questions *questions, struct path *path)
{
    struct rule_knowledge rules, *known = &shared->rtnetlink.rules;
    int error;

    if (!path->flow_unsettled)
        return 0;
    pthread_mutex_lock(&shared->lock);
    rules = *known;
    pthread_mutex_unlock(&shared->lock);
    error = netns_handle_run(shared->netns, read_selectors_in_namespace, &rules);
    if (error != 0)
        return netlink_is_withheld(error) ? 0 : error;
    pthread_mutex_lock(&shared->lock);
    rules.known = true;
    if (rules.version == known->version) /* else the next call reads them again */
        *known = rules;
    pthread_mutex_unlock(&shared->lock);
    path->flow_unsettled = false;
    add_incomplete(questions, &rules, path);
    return 0;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* A new link can have the index and the name of one that the shared table still has: it is updated first. */
void shared_socket_lend_devices(struct shared_socket *shared, struct link_table *links)
{
    struct rtnetlink *rtnetlink = &shared->rtnetlink;

    pthread_mutex_lock(&shared->lock);
    if (!rtnetlink->groups_refused && link_table_take_devices(links, &rtnetlink->links, false) &&
        can_query_locked(shared)) {
        rtnetlink_update_links(rtnetlink);
        (void)link_table_take_devices(links, &rtnetlink->links, true);
    }
    pthread_mutex_unlock(&shared->lock);
}

/* Reads a link from the shared link table, or from the kernel without waiting for RTNL, and the table's `version`. */
static bool read_shared_link(struct shared_socket *shared, uint32_t index, struct link *ret, unsigned *ret_version)
{
    const struct link *link = NULL;

    repair(shared);
    pthread_mutex_lock(&shared->lock);
    if (can_query_locked(shared)) {
        rtnetlink_update_links(&shared->rtnetlink);
        (void)rtnetlink_link(&shared->rtnetlink, index, &link);
        *ret_version = shared->rtnetlink.links.version;
    }
    if (link != NULL)
        *ret = *link;
    pthread_mutex_unlock(&shared->lock);
    return link != NULL;
}

/* The link was deleted a moment ago, or the kernel refuses to say more. */
static bool nothing_more_to_learn(int error)
{
    return error == ENODEV || netlink_is_withheld(error);
}

int shared_socket_learn_link(struct shared_socket *shared, uint32_t index, struct link *ret)
{
    unsigned version = 0;
    struct link found;
    int error;

    *ret = (struct link){ 0 };
    if (index == 0 || !read_shared_link(shared, index, ret, &version) || (link_type_is_known(ret) && ret->complete))
        return 0;
    error = link_type_query_in(shared->netns, index, &found);
    if (error != 0)
        return nothing_more_to_learn(error) ? 0 : error;
    *ret = found;
    pthread_mutex_lock(&shared->lock);
    link_table_learn(&shared->rtnetlink.links, ret, version);
    pthread_mutex_unlock(&shared->lock);
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

uint32_t shared_socket_link_index(struct shared_socket *shared, const char *name)
{
    struct link_index_call call = { .name = name };
    bool can_query;

    if (link_alias_is(name)) {
        (void)link_alias_index(shared->netns, name, &call.index);
        return call.index;
    }
    pthread_mutex_lock(&shared->lock);
    can_query = can_query_locked(shared);
    if (can_query)
        (void)rtnetlink_link_index(&shared->rtnetlink, name, &call.index);
    pthread_mutex_unlock(&shared->lock);
    if (!can_query)
        (void)netns_handle_run(shared->netns, find_link_index_in_namespace, &call);
    return call.index;
}
#endif
